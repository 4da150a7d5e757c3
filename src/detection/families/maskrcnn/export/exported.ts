/** Mask R-CNN as a family that `export` builds and `split` cuts. */
import type { ExportedFamily } from '../../../detector/exported-family.js';
import { MASKRCNN_PARTS, MASKRCNN_SUBGRAPHS } from '../part-names.js';

export const exportedMaskRcnn: ExportedFamily = {
  name: 'maskrcnn',
  description: "torchvision's maskrcnn_resnet50_fpn_v2 and maskrcnn_resnet50_fpn, of any width and depth",
  parts: MASKRCNN_PARTS,
  defaults: ['torchvision'],
  unusedOptions: { 'roiBatch.maskIou': 'has no MaskIoU head', maskInput: 'has no MaskIoU head' },
  probe: 'backbone.body.conv1.weight',
  load: async () => (await import('./exporter.js')).maskRcnnExporter,
  structureCut: { subgraphs: MASKRCNN_SUBGRAPHS, load: async () => (await import('../cut/cut-by-structure.js')).cutMaskRcnn },
};
