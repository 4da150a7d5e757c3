/** The report of `correct-biases`, and its lines in the log. */
import type { JsonObject } from '../../src/base/json.js';
import type { LayerCorrection } from '../../src/quant/recovery/layer-correction.js';
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { describeOutputs, listOutputs, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { toDb } from '../../src/quant/weights/weights.js';

export interface Corrections {
  readonly corrections: readonly LayerCorrection[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportCorrections({ corrections, skipped, samples, outputs }: Corrections): JsonObject {
  return {
    format: 'tanren-bias-corrections/1',
    samples,
    corrected: corrections.filter(({ result }) => result === 'corrected').length,
    outputs: listOutputs(outputs.before, outputs.after),
    layers: corrections.map(({ node, result, meanError, signal, noise, saturated }) => ({
      node,
      result,
      meanError: { ...meanError },
      sqnrDb: { before: finite(toDb(signal, noise.before)), after: finite(toDb(signal, noise.after)) },
      saturated,
    })),
    skipped: skipped.map(layer => ({ ...layer })),
  };
}

function finite(x: number): number | null {
  return Number.isFinite(x) ? x : null;
}

/** What the correction brought, one line per output; a warning for each output that became worse. */
export function summarizeCorrections({ corrections, skipped, outputs }: Corrections): readonly (readonly ['info' | 'warning', string])[] {
  const corrected = corrections.filter(({ result }) => result === 'corrected').length;
  const counts = `corrected the biases of ${corrected} of ${corrections.length + skipped.length} layers`;
  return [['info', counts], ...describeOutputs(outputs.before, outputs.after, 'correction')];
}
