/** Samples of parts whose inner values are compared by this thread and a second one: each unit by the thread that claims it first. */
import type { SampleErrors } from '../../src/quant/compare/compare-values.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { byteLength } from '../../src/tensor/dtype.js';
import { countElements } from '../../src/tensor/shape.js';
import { type Claim, newClaim, takeClaim } from './claim.js';
import { sizeOfFiles } from './file-sizes.js';
import type { ValuesThread } from './open-values-thread.js';
import type { ModelPair } from './part-models.js';

/** A part on one sample. */
export interface Unit {
  readonly part: string;
  /** The sample, which errors name. */
  readonly label: string;
  readonly models: ModelPair;
  readonly claim: Claim;
  state:
    | { readonly kind: 'waiting'; readonly feeds: NamedTensors }
    | { readonly kind: 'taken' }
    | { readonly kind: 'compared'; readonly errors: SampleErrors };
}

export interface UnitQueue {
  /** @throws as `compareHere`. */
  add(unit: Pick<Unit, 'part' | 'label' | 'models'>, feeds: NamedTensors): Promise<Unit>;
  /** Whether the second thread has little to do. */
  wantsMore(): boolean;
  /** The first error of the second thread. */
  failure(): { readonly error: unknown } | undefined;
  /** Waits until all units are compared, or one has failed. @throws as `compareHere`. */
  finish(): Promise<void>;
}

/** Inputs that wait while this thread runs the detectors; of more, this thread compares the last ones itself. */
const MOST_WAITING_BYTES = 64 << 20;

/** Inputs with which the second thread begins, before the detectors are open. */
const MOST_AHEAD_BYTES = 16 << 20;

/** Units that the second thread has at once: it does not wait for this thread, which runs a model for tenths of a second, to get the next one. */
const SENT = 2;

/**
 * The first unit of a part takes longer, because its models are opened: of large models as long as some more units. With fewer units of such a part, the
 * second thread alone ends sooner. Models of this size on both sides are opened in a quarter of the time of a run.
 */
const [LEAST_OPENED_FOR, OPENED_AT_ONCE_BYTES] = [3, 2 << 20];

/**
 * The second thread takes units in their order, and this thread takes the last ones: each opens the models of few parts.
 * @param thread undefined: each unit is compared when it is added.
 */
export function openUnitQueue(
  thread: ValuesThread | undefined,
  compareHere: (unit: Unit, feeds: NamedTensors) => Promise<SampleErrors>,
): UnitQueue {
  /** `waiting`: those that this thread may still take; `unsent`: those that the second thread does not have. */
  const waiting = new Set<Unit>();
  const unsent: Unit[] = [];
  /** What the second thread works on; they never reject. */
  const sharing = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  let waitingBytes = 0;
  const settle = (unit: Unit, state: Unit['state']): void => {
    if (unit.state.kind === 'waiting') waitingBytes -= sizeOf(unit.state.feeds);
    waiting.delete(unit);
    unit.state = state;
  };
  /** Parts that this thread has opened. */
  const opened = new Set<string>();
  const isWorthOpening = ({ part, models }: Unit): boolean =>
    thread === undefined ||
    opened.has(part) ||
    [...waiting].filter(unit => unit.part === part).length >= LEAST_OPENED_FOR ||
    // The last one alone is sooner compared by the second thread, which has opened its models.
    (waiting.size > 1 && (sizeOfFiles([models.reference, models.candidate]) ?? Infinity) <= OPENED_AT_ONCE_BYTES);
  /** @returns false if nothing waits that this thread should take. */
  const compareLast = async (): Promise<boolean> => {
    for (const unit of [...waiting].reverse()) {
      const { part, label, state, claim } = unit;
      if (state.kind !== 'waiting' || !isWorthOpening(unit) || !takeClaim(claim)) continue;
      opened.add(part);
      settle(unit, { kind: 'taken' });
      settle(unit, { kind: 'compared', errors: await nameSample(label, () => compareHere(unit, state.feeds)) });
      return true;
    }
    return false;
  };
  const share = async ({ compare }: ValuesThread): Promise<void> => {
    try {
      for (let unit = unsent.shift(); unit !== undefined; unit = unsent.shift()) {
        const { models, label, claim, state } = unit;
        if (state.kind !== 'waiting') continue;
        const errors = await nameSample(label, () => compare({ models, claim, feeds: state.feeds }));
        if (errors !== undefined) settle(unit, { kind: 'compared', errors });
      }
    } catch (error) {
      failure ??= { error };
      unsent.length = 0;
    }
  };
  return {
    async add(given, feeds) {
      const unit: Unit = { ...given, claim: newClaim(), state: { kind: 'waiting', feeds } };
      waiting.add(unit);
      waitingBytes += sizeOf(feeds);
      if (thread === undefined) {
        await compareLast();
        return unit;
      }
      unsent.push(unit);
      while (sharing.size < SENT && unsent.length > 0) {
        const sent = share(thread).finally(() => sharing.delete(sent));
        sharing.add(sent);
      }
      while (waitingBytes > MOST_WAITING_BYTES && (await compareLast()));
      return unit;
    },
    wantsMore: () => thread !== undefined && waitingBytes < MOST_AHEAD_BYTES,
    failure: () => failure,
    async finish() {
      while (failure === undefined && (await compareLast()));
      await Promise.all(sharing);
    },
  };
}

function sizeOf(feeds: NamedTensors): number {
  return Object.values(feeds).reduce((sum, { dtype, dims }) => sum + byteLength(dtype, countElements(dims)), 0);
}
