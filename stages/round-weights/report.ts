/** The report of `round-weights`, and its lines in the log. */
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { describeOutputs, listOutputs, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { changeOf, type RoundingsReport } from '../../src/quant/recovery/recovery-report.js';
import type { LayerRounding } from '../../src/quant/recovery/rounding/layer-rounding.js';

export interface Roundings {
  readonly roundings: readonly LayerRounding[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportRoundings({ roundings, skipped, samples, outputs }: Roundings): RoundingsReport {
  return {
    format: 'tanren-weight-roundings/1',
    samples,
    rounded: countRounded(roundings),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: roundings.map(({ node, result, signal, noise, changed, ...way }) => ({
      node,
      result,
      sqnrDb: changeOf({ signal, noise }),
      changed,
      ...way,
    })),
    skipped,
  };
}

export function summarizeRoundings({ roundings, skipped, outputs }: Roundings): readonly (readonly ['info' | 'warning', string])[] {
  const counts = `rounded the weights of ${countRounded(roundings)} of ${roundings.length + skipped.length} layers`;
  return [['info', counts], ...describeOutputs(outputs.before, outputs.after, 'rounding')];
}

function countRounded(roundings: readonly LayerRounding[]): number {
  return roundings.filter(({ result }) => result === 'rounded').length;
}
