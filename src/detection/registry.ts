/** The detector families. A new family adds one folder under families/ and one line here. */
import type { DetectorFamily } from './detector/detector-family.js';
import { maskRcnn } from './families/maskrcnn/family.js';
import { maskScoring } from './families/maskscoring/family.js';
import { single } from './families/single/family.js';
import { yolact } from './families/yolact/family.js';

export const DETECTOR_FAMILIES: readonly DetectorFamily[] = [maskRcnn, maskScoring, single, yolact];
