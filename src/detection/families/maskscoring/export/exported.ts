/** Mask Scoring R-CNN as a family that `export` builds and `split` cuts. */
import type { ExportedFamily } from '../../../detector/exported-family.js';
import { MASKSCORING_PARTS } from '../part-names.js';

export const exportedMaskScoring: ExportedFamily = {
  name: 'maskscoring',
  description: 'these with a MaskIoU head',
  parts: MASKSCORING_PARTS,
  defaults: ['torchvision'],
  unusedOptions: {},
  probe: 'backbone.body.conv1.weight',
  load: async () => (await import('./exporter.js')).maskScoringExporter,
};
