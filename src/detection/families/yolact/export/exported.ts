/** YOLACT as a family that `export` builds. */
import type { ExportedFamily } from '../../../detector/exported-family.js';
import { YOLACT_DEFAULT_NAMES } from '../config-defaults.js';

export const exportedYolact: ExportedFamily = {
  name: 'yolact',
  description: 'dbolya/yolact with a ResNet or Darknet-53',
  parts: ['network'],
  defaults: YOLACT_DEFAULT_NAMES,
  unusedOptions: {
    'roiBatch.maskIou': 'has no MaskIoU head',
    maskInput: 'has no MaskIoU head',
    roiBatch: 'has no RoI heads',
    size: 'computes its priors for one size',
    fit: 'stretches every image to its input',
    frozenBatchNormEpsilon: 'has no frozen batch norms',
  },
  probe: 'fpn.lat_layers.0.weight',
  load: async () => (await import('./exporter.js')).yolactExporter,
};
