/** Compares every inner value of the parts: runs both models of each part again, segment by segment. */

import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import type { SampleErrors } from '../../src/quant/compare/compare-values.js';
import type { PartErrors } from '../../src/quant/compare/propagated-error.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { byteLength } from '../../src/tensor/dtype.js';
import { countElements } from '../../src/tensor/shape.js';
import { type OpenPair, openPair } from './open-pair.js';
import { isWorthThread, openValuesThread, type ValuesThread } from './open-values-thread.js';
import type { VerifyJob } from './params.js';
import { fitInputs, type ModelPair, pairOf } from './part-models.js';

export interface ValueErrors {
  /**
   * Compares all values of a part on its input, now or later. Does nothing if the input has no rows, or only outputs are compared.
   * @param label the sample, for the error of its comparison, which may be thrown by any later call.
   */
  add(part: string, inputs: PartValuesByName, label: string): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors, label: string): Promise<void>;
  /** Compares what waits. @throws as `ValueComparer.compare`, and StageError `thread-ended`, as `add` and `addFeeds` may; each names its sample. */
  finish(): Promise<void>;
  /** undefined if only outputs are compared. */
  conclude(): readonly PartErrors[] | undefined;
  close(): Promise<void>;
}

/** A part on one sample. */
interface Unit {
  readonly part: string;
  readonly label: string;
  readonly models: ModelPair;
  state:
    | { readonly kind: 'waiting'; readonly feeds: NamedTensors }
    | { readonly kind: 'taken' }
    | { readonly kind: 'compared'; readonly errors: SampleErrors };
}

/** Inputs that wait while this thread runs the detectors; of more, this thread compares the next ones itself. */
const MOST_WAITING_BYTES = 64 << 20;

function sizeOf(feeds: NamedTensors): number {
  return Object.values(feeds).reduce((sum, { dtype, dims }) => sum + byteLength(dtype, countElements(dims)), 0);
}

/**
 * The models of both sides by part. Parts are opened when they are first compared.
 * A second thread shares the work: each unit is compared alone, and the sums are added in the order of the samples, so that the bits are those of one thread.
 */
export function openValueErrors(job: Pick<VerifyJob, 'params' | 'inputs'>): ValueErrors {
  const opened = new Map<string, OpenPair>();
  /** Those whose sums are not added yet, in order; `waiting` has those that nobody has taken. */
  const units: Unit[] = [];
  const waiting: Unit[] = [];
  /** What the thread works on; it never rejects. */
  let sharing: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const { values, images, samples } = job.params;
  const isAll = values === 'all';
  // It starts while the detectors open.
  const thread = isAll && isWorthThread(job.inputs, images?.length ?? samples) ? openValuesThread() : undefined;

  const open = async (part: string): Promise<OpenPair> => {
    const pair = opened.get(part) ?? (await openPair(pairOf(job, part)));
    opened.set(part, pair);
    return pair;
  };
  let waitingBytes = 0;
  const compareNext = async (compare: (unit: Unit, feeds: NamedTensors) => Promise<SampleErrors>): Promise<void> => {
    const unit = waiting.shift();
    if (unit?.state.kind !== 'waiting') return;
    const { feeds } = unit.state;
    waitingBytes -= sizeOf(feeds);
    unit.state = { kind: 'taken' };
    unit.state = { kind: 'compared', errors: await nameSample(unit.label, () => compare(unit, feeds)) };
  };
  const compareHere = async ({ part }: Unit, feeds: NamedTensors) => (await open(part)).comparer.compareAlone(feeds);
  const share = async ({ compare }: ValuesThread): Promise<void> => {
    try {
      while (waiting.length > 0) await compareNext(({ models }, feeds) => compare({ models, feeds }));
    } catch (error) {
      failure = { error };
    }
    sharing = undefined;
  };
  const addCompared = async (): Promise<void> => {
    if (failure !== undefined) throw failure.error;
    for (let [unit] = units; unit?.state.kind === 'compared'; [unit] = units) {
      (await open(unit.part)).comparer.add(unit.state.errors);
      units.shift();
    }
  };
  const addUnit = async (part: string, feeds: NamedTensors, label: string): Promise<void> => {
    await addCompared();
    const models = pairOf(job, part);
    const unit: Unit = { part, label, models, state: { kind: 'waiting', feeds } };
    units.push(unit);
    waiting.push(unit);
    waitingBytes += sizeOf(feeds);
    if (thread !== undefined) sharing ??= share(thread);
    while (thread === undefined ? waiting.length > 0 : waitingBytes > MOST_WAITING_BYTES) await compareNext(compareHere);
  };

  return {
    async add(part, inputs, label) {
      if (!isAll || Object.values(inputs).some(({ dims }) => dims[0] === 0)) return;
      const { wanted } = await open(part);
      await addUnit(part, fitInputs(inputs, wanted), label);
    },
    async addFeeds(part, feeds, label) {
      if (isAll) await addUnit(part, feeds, label);
    },
    async finish() {
      while (waiting.length > 0 && failure === undefined) await compareNext(compareHere);
      await sharing;
      await addCompared();
    },
    conclude: () => (isAll ? [...opened].map(([part, { comparer }]) => comparer.conclude(part)) : undefined),
    async close() {
      await thread?.close();
      for (const { comparer } of opened.values()) await comparer.close();
    },
  };
}
