/** Reads the checkpoint of a network: the tensors under a common prefix, as float32. The log reports what was removed and converted. */
import { toFloat32State } from '../../src/detection/network/float-state.js';
import type { StateDict } from '../../src/detection/network/state-dict.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readInput } from '../../src/stage/paths.js';
import { readStateDict, selectStateDict } from '../../src/tensor/formats/state-dict.js';

export interface CheckpointFacts {
  readonly tensors: number;
  /** The common prefix that was removed from the keys; '' where there was none. */
  readonly prefix: string;
  /** Number of converted tensors per original dtype. */
  readonly converted: Readonly<Record<string, number>>;
}

/** @param probe key of a tensor that every network of the family has; it reveals a common prefix. */
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
