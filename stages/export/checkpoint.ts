/** Which tensors does a checkpoint give to a network? Those under a common prefix, as float32; the log says what was removed and converted. */
import { toFloat32State } from '../../src/detection/network/float-state.js';
import type { StateDict } from '../../src/detection/network/state-dict.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readInput } from '../../src/stage/paths.js';
import { readStateDict, selectStateDict } from '../../src/tensor/formats/state-dict.js';

export interface CheckpointFacts {
  readonly tensors: number;
  /** What every key began with; '' where nothing was removed. */
  readonly prefix: string;
  readonly converted: Readonly<Record<string, number>>;
}

/** @param probe a tensor that every network of the family has: its key tells a common prefix. */
export async function readCheckpoint<P>(
  { inputs, context }: StageJob<P>,
  probe: string,
): Promise<{ readonly state: StateDict; readonly facts: CheckpointFacts }> {
  const { prefix, tensors } = selectStateDict(await readInput(inputs, 'checkpoint', readStateDict), probe);
  const { state, converted } = toFloat32State(tensors);
  if (prefix !== '') context.log('info', `removed the prefix "${prefix}" of the checkpoint's keys`);
  for (const [dtype, count] of Object.entries(converted)) context.log('info', `converted ${count} ${dtype} tensors to float32`);
  return { state, facts: { tensors: tensors.size, prefix, converted } };
}
