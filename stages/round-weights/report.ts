/** The report of `round-weights`, and its lines in the log. */
import type { JsonObject } from '../../src/base/json.js';
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { describeOutputs, listOutputs, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import type { LayerRounding } from '../../src/quant/recovery/rounding/layer-rounding.js';
import { toDb } from '../../src/quant/weights/weights.js';

export const ROUNDING_REPORT_FORMAT = 'tanren-weight-roundings/1';

export interface Roundings {
  readonly roundings: readonly LayerRounding[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportRoundings({ roundings, skipped, samples, outputs }: Roundings): JsonObject {
  return {
    format: ROUNDING_REPORT_FORMAT,
    samples,
    rounded: countRounded(roundings),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: roundings.map(({ node, result, signal, noise, changed, ...way }) => ({
      node,
      result,
      sqnrDb: { before: finite(toDb(signal, noise.before)), after: finite(toDb(signal, noise.after)) },
      changed,
      ...way,
    })),
    skipped: skipped.map(layer => ({ ...layer })),
  };
}

export function summarizeRoundings({ roundings, skipped, outputs }: Roundings): readonly (readonly ['info' | 'warning', string])[] {
  const counts = `rounded the weights of ${countRounded(roundings)} of ${roundings.length + skipped.length} layers`;
  return [['info', counts], ...describeOutputs(outputs.before, outputs.after, 'rounding')];
}

function countRounded(roundings: readonly LayerRounding[]): number {
  return roundings.filter(({ result }) => result === 'rounded').length;
}

function finite(x: number): number | null {
  return Number.isFinite(x) ? x : null;
}
