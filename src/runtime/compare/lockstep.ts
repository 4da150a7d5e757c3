/** Runs two models at the same time and pairs their values. The run that is ahead waits, so that few tensors are in memory. */
import { getDefined } from '../../base/invariant.js';
import type { Value, ValueId } from '../../onnx/ir/model.js';
import { byteLength } from '../../tensor/dtype.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Capture, Visit } from '../capture/capture.js';
import type { NamedTensors } from '../session/model-inputs.js';

export interface LockstepRun {
  readonly capture: Capture;
  readonly feeds: NamedTensors;
  /** Values with a counterpart in the other run, and the key of each pair. */
  readonly keys: ReadonlyMap<ValueId, string>;
}

/** Bytes of one run's unpaired tensors before the run waits. More are kept only if the two runs compute their values in different orders. */
const BUDGET_BYTES = 32 << 20;

/**
 * Runs both models and passes each pair to the callback once.
 * @throws the error of the first run that fails, after both have ended.
 */
export async function runInLockstep(
  left: LockstepRun,
  right: LockstepRun,
  onPair: (key: string, left: Tensor, right: Tensor) => void,
): Promise<void> {
  const sides: readonly [Side, Side] = [makeSide(left), makeSide(right)];
  const pair = (key: string, own: Side, tensor: Tensor, other: Tensor): void =>
    own === sides[0] ? onPair(key, tensor, other) : onPair(key, other, tensor);
  const runs = sides.map(async (own, index) => {
    const other = getDefined(sides[1 - index], 'the other run');
    try {
      await own.run.capture.run(own.run.feeds, visitFor(own, other, pair));
    } finally {
      own.state = 'ended';
      resume(other);
    }
  });
  const failed = (await Promise.allSettled(runs)).find(result => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

interface Side {
  readonly run: LockstepRun;
  readonly held: Map<string, Tensor>;
  heldBytes: number;
  state: 'running' | 'waiting' | 'ended';
  resume: () => void;
}

function makeSide(run: LockstepRun): Side {
  return { run, held: new Map(), heldBytes: 0, state: 'running', resume: () => undefined };
}

type OnPair = (key: string, own: Side, tensor: Tensor, other: Tensor) => void;

/** Only one side waits at a time, and never for a side that has ended, so that one of them always continues. */
function visitFor(own: Side, other: Side, onPair: OnPair): Visit {
  return ({ id }: Value, tensor) => {
    const key = own.run.keys.get(id);
    if (key === undefined) return;
    const partner = other.held.get(key);
    if (partner !== undefined) {
      other.held.delete(key);
      other.heldBytes -= sizeOf(partner);
      onPair(key, own, tensor, partner);
      if (other.heldBytes <= BUDGET_BYTES) resume(other);
      return;
    }
    own.held.set(key, tensor);
    own.heldBytes += sizeOf(tensor);
    if (own.heldBytes <= BUDGET_BYTES || other.state !== 'running') return;
    own.state = 'waiting';
    return new Promise(resolve => {
      own.resume = resolve;
    });
  };
}

function resume(side: Side): void {
  if (side.state !== 'waiting') return;
  side.state = 'running';
  side.resume();
}

function sizeOf({ dtype, dims }: Tensor): number {
  return byteLength(
    dtype,
    dims.reduce((product, dim) => product * dim, 1),
  );
}
