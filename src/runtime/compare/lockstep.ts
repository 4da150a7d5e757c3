/** How are the values of two models brought together while both run? Each run waits when it is far ahead, so that little is held of either. */
import { getDefined } from '../../base/invariant.js';
import type { Value, ValueId } from '../../onnx/ir/model.js';
import { byteLength } from '../../tensor/dtype.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Capture, Visit } from '../capture/capture.js';
import type { NamedTensors } from '../session/model-inputs.js';

export interface LockstepRun {
  readonly capture: Capture;
  readonly feeds: NamedTensors;
  /** Values that have a partner in the other run, by what both are known as. */
  readonly keys: ReadonlyMap<ValueId, string>;
}

/** Bytes of one run's tensors that wait for their partners before it waits itself. More are held only where the two runs come by their values in another order. */
const BUDGET_BYTES = 32 << 20;

/**
 * Runs both and hands over each pair once.
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
      wake(other);
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

type OnMeeting = (key: string, own: Side, tensor: Tensor, other: Tensor) => void;

/** One side alone waits at a time, and not for one that has ended: whatever the order of values, one of the two goes on. */
function visitFor(own: Side, other: Side, onMeeting: OnMeeting): Visit {
  return ({ id }: Value, tensor) => {
    const key = own.run.keys.get(id);
    if (key === undefined) return;
    const partner = other.held.get(key);
    if (partner !== undefined) {
      other.held.delete(key);
      other.heldBytes -= sizeOf(partner);
      onMeeting(key, own, tensor, partner);
      if (other.heldBytes <= BUDGET_BYTES) wake(other);
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

function wake(side: Side): void {
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
