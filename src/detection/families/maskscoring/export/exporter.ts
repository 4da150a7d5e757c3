/** Exports a Mask Scoring R-CNN: config, model, and the report of the network. */
import type { FamilyExporter } from '../../../detector/exported-family.js';
import { configureTorchvisionExport, describeExport, makeExportOptions } from '../../maskrcnn/export/exporter.js';
import { exportMaskScoring } from './export-maskscoring.js';

export const maskScoringExporter: FamilyExporter = {
  readConfig: (value, defaults) =>
    configureTorchvisionExport(value, defaults, (state, config, options) => {
      const { roiBatch, maskInput = 'split' } = options;
      const exported = exportMaskScoring(state, config, {
        ...makeExportOptions(options),
        roiBatch: { maskIou: 'free', ...roiBatch },
        maskInput,
      });
      return describeExport(exported, { maskIou: exported.recipe.maskIouHead.batch });
    }),
};
