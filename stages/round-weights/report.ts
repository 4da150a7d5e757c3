/** The report of `round-weights`. */
import { listOutputs } from '../../src/quant/recovery/output-errors.js';
import { countResults, listResults, type Recovered } from '../../src/quant/recovery/recovered.js';
import type { RoundingsReport } from '../../src/quant/recovery/recovery-report.js';
import type { LayerRounding } from '../../src/quant/recovery/rounding/layer-rounding.js';
import { changeOf } from '../../src/quant/recovery/sqnr-change.js';

export function reportRoundings(found: Recovered<LayerRounding>): RoundingsReport {
  const { layers, skipped, samples, outputs, guard } = found;
  const results = listResults(found, 'rounded');
  return {
    format: 'tanren-weight-roundings/1',
    samples,
    rounded: countResults(found, 'rounded'),
    ...(guard === undefined ? {} : { guard }),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: layers.map(({ node, result, signal, noise, changed, ...way }, index) => ({
      node,
      result: results[index] ?? result,
      sqnrDb: changeOf({ signal, noise }),
      changed,
      ...way,
    })),
    skipped,
  };
}
