/** The report of `correct-biases`. */
import type { LayerCorrection } from '../../src/quant/recovery/layer-correction.js';
import { listOutputs } from '../../src/quant/recovery/output-errors.js';
import { countResults, listResults, type Recovered } from '../../src/quant/recovery/recovered.js';
import type { CorrectionsReport } from '../../src/quant/recovery/recovery-report.js';
import { changeOf } from '../../src/quant/recovery/sqnr-change.js';

export function reportCorrections(found: Recovered<LayerCorrection>): CorrectionsReport {
  const { layers, skipped, samples, outputs, guard } = found;
  const results = listResults(found, 'corrected');
  return {
    format: 'tanren-bias-corrections/1',
    samples,
    corrected: countResults(found, 'corrected'),
    ...(guard === undefined ? {} : { guard }),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: layers.map(({ node, result, meanError, saturated, ...error }, index) => ({
      node,
      result: results[index] ?? result,
      meanError,
      sqnrDb: changeOf(error),
      saturated,
    })),
    skipped,
  };
}
