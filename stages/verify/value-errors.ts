/** Compares every inner value of the parts: runs both models of each part again, segment by segment. */

import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import type { PartErrors } from '../../src/quant/compare/propagated-error.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { type OpenPair, openPair } from './open-pair.js';
import { isWorthThread, openValuesThread } from './open-values-thread.js';
import type { VerifyJob } from './params.js';
import { fitInputs, pairOf } from './part-models.js';
import { openUnitQueue, type Unit } from './unit-queue.js';

export interface ValueErrors {
  /**
   * Compares all values of a part on its input, now or later. Does nothing if the input has no rows, or only outputs are compared.
   * @param label the sample, for the error of its comparison, which may be thrown by any later call.
   */
  add(part: string, inputs: PartValuesByName, label: string): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors, label: string): Promise<void>;
  /** Whether a second thread compares and has little to do: what is added now is compared while the detectors open. */
  wantsMore(): boolean;
  /** Compares what waits. @throws as `ValueComparer.compare`, and StageError `thread-ended`, as `add` and `addFeeds` may; each names its sample. */
  finish(): Promise<void>;
  /** undefined if only outputs are compared. */
  conclude(): readonly PartErrors[] | undefined;
  close(): Promise<void>;
}

/**
 * The models of both sides by part. Parts are opened when they are first compared.
 * A second thread shares the work: each unit is compared alone, and the sums are added in the order of the samples, so that the bits are those of one thread.
 */
export function openValueErrors(job: Pick<VerifyJob, 'params' | 'inputs'>): ValueErrors {
  const opened = new Map<string, OpenPair>();
  /** Those whose sums are not added yet, in order. */
  const units: Unit[] = [];
  const { values, images, samples } = job.params;
  const isAll = values === 'all';
  // It starts while the detectors open.
  const thread = isAll && isWorthThread(job.inputs, images?.length ?? samples) ? openValuesThread() : undefined;

  const open = async (part: string): Promise<OpenPair> => {
    const pair = opened.get(part) ?? (await openPair(pairOf(job, part)));
    opened.set(part, pair);
    return pair;
  };
  const queue = openUnitQueue(thread, async ({ part }, feeds) => (await open(part)).comparer.compareAlone(feeds));
  const addCompared = async (): Promise<void> => {
    const failure = queue.failure();
    if (failure !== undefined) throw failure.error;
    for (let [unit] = units; unit?.state.kind === 'compared'; [unit] = units) {
      (await open(unit.part)).comparer.add(unit.state.errors);
      units.shift();
    }
  };
  const addUnit = async (part: string, feeds: NamedTensors, label: string): Promise<void> => {
    await addCompared();
    units.push(await queue.add({ part, label, models: pairOf(job, part) }, feeds));
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
    wantsMore: queue.wantsMore,
    async finish() {
      await queue.finish();
      await addCompared();
    },
    conclude: () => (isAll ? [...opened].map(([part, { comparer }]) => comparer.conclude(part)) : undefined),
    async close() {
      await thread?.close();
      for (const { comparer } of opened.values()) await comparer.close();
    },
  };
}
