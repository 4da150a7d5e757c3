/** What a stage that recovers accuracy found: its layers, and the outputs before and after; with the counts and log lines that all such stages share. */
import type { LayerPairs } from './layer-pairs.js';
import { describeOutputs, type OutputSqnr } from './output-errors.js';

export interface Recovered<Layer extends { readonly result: string }> {
  readonly layers: readonly Layer[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  /** Number of captured samples. */
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function countResults<Layer extends { readonly result: string }>(layers: readonly Layer[], result: Layer['result']): number {
  return layers.filter(layer => layer.result === result).length;
}

/** The gain by the change, one line per output; a warning for each output that became worse. */
export function summarizeRecovery<Layer extends { readonly result: string }>(
  { layers, skipped, outputs }: Recovered<Layer>,
  /** `done`: such as "rounded the weights"; `result`: that of the layers it was done to; `change`: its noun. */
  { done, result, change }: { readonly done: string; readonly result: Layer['result']; readonly change: string },
): readonly (readonly ['info' | 'warning', string])[] {
  const counts = `${done} of ${countResults(layers, result)} of ${layers.length + skipped.length} layers`;
  return [['info', counts], ...describeOutputs(outputs.before, outputs.after, change)];
}
