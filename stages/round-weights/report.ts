/** The report of `round-weights`. */
import { listOutputs } from '../../src/quant/recovery/output-errors.js';
import { countResults, type Recovered } from '../../src/quant/recovery/recovered.js';
import type { RoundingsReport } from '../../src/quant/recovery/recovery-report.js';
import type { LayerRounding } from '../../src/quant/recovery/rounding/layer-rounding.js';
import { changeOf } from '../../src/quant/recovery/sqnr-change.js';

export function reportRoundings({ layers, skipped, samples, outputs }: Recovered<LayerRounding>): RoundingsReport {
  return {
    format: 'tanren-weight-roundings/1',
    samples,
    rounded: countResults(layers, 'rounded'),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: layers.map(({ node, result, signal, noise, changed, ...way }) => ({
      node,
      result,
      sqnrDb: changeOf({ signal, noise }),
      changed,
      ...way,
    })),
    skipped,
  };
}
