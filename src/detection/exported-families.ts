/** The detector families that `export` builds from checkpoints and `split` cuts into parts. */
import type { ExportedFamily } from './detector/exported-family.js';
import { exportedMaskRcnn } from './families/maskrcnn/export/exported.js';
import { exportedMaskScoring } from './families/maskscoring/export/exported.js';
import { exportedYolact } from './families/yolact/export/exported.js';

export const EXPORTED_FAMILIES: readonly [ExportedFamily, ...ExportedFamily[]] = [exportedMaskRcnn, exportedMaskScoring, exportedYolact];
