/** What a stage that recovers accuracy found: its layers, and the outputs before and after; with the counts and log lines that all such stages share. */
import type { LayerPairs } from './layer-pairs.js';
import { describeOutputs, type OutputSqnr } from './output-errors.js';
import { describeGuard, type GuardReport } from './output-guard.js';

export interface Recovered<Layer extends { readonly result: string }> {
  readonly layers: readonly Layer[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  /** Number of captured samples. */
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
  /** With `guard: outputs`. */
  readonly guard: GuardReport | undefined;
}

/** The result of a layer whose change the network's outputs took back. */
const TAKEN_BACK = 'taken-back';

/** Results as the guard leaves them: of the layers with `result`, the first `guard.kept` keep it. */
export function listResults<Layer extends { readonly result: string }>(
  { layers, guard }: Pick<Recovered<Layer>, 'layers' | 'guard'>,
  result: Layer['result'],
): readonly (Layer['result'] | typeof TAKEN_BACK)[] {
  let left = guard?.kept ?? layers.length;
  return layers.map(layer => (layer.result === result && left-- <= 0 ? TAKEN_BACK : layer.result));
}

export function countResults<Layer extends { readonly result: string }>(
  found: Pick<Recovered<Layer>, 'layers' | 'guard'>,
  result: Layer['result'],
): number {
  return listResults(found, result).filter(one => one === result).length;
}

/** The gain by the change, one line per output; a warning for each output that became worse. */
export function summarizeRecovery<Layer extends { readonly result: string }>(
  found: Recovered<Layer>,
  /** `done`: such as "rounded the weights"; `result`: that of the layers it was done to; `change`: its noun. */
  { done, result, change }: { readonly done: string; readonly result: Layer['result']; readonly change: string },
): readonly (readonly ['info' | 'warning', string])[] {
  const { layers, skipped, outputs, guard } = found;
  const help = `more samples,${guard === undefined ? ' `guard: outputs`,' : ''} or the model without it`;
  const counts = `${done} of ${countResults(found, result)} of ${layers.length + skipped.length} layers`;
  return [
    ['info', counts],
    ...(guard === undefined ? [] : [describeGuard(guard, 'layers')]),
    ...describeOutputs(outputs.before, outputs.after, change, help),
  ];
}
