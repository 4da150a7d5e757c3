/** The report of `correct-biases`. */
import type { LayerCorrection } from '../../src/quant/recovery/layer-correction.js';
import { listOutputs } from '../../src/quant/recovery/output-errors.js';
import { countResults, type Recovered } from '../../src/quant/recovery/recovered.js';
import type { CorrectionsReport } from '../../src/quant/recovery/recovery-report.js';
import { changeOf } from '../../src/quant/recovery/sqnr-change.js';

export function reportCorrections({ layers, skipped, samples, outputs }: Recovered<LayerCorrection>): CorrectionsReport {
  return {
    format: 'tanren-bias-corrections/1',
    samples,
    corrected: countResults(layers, 'corrected'),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: layers.map(({ node, result, meanError, saturated, ...error }) => ({
      node,
      result,
      meanError,
      sqnrDb: changeOf(error),
      saturated,
    })),
    skipped,
  };
}
