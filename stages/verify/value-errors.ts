/** Compares every inner value of the parts: runs both models of each part again, segment by segment. */

import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openValueComparer, type ValueComparer } from '../../src/quant/compare/compare-values.js';
import type { PartErrors } from '../../src/quant/compare/propagated-error.js';
import { listModelInputs, type ModelInput, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import type { VerifyJob } from './params.js';
import { fitInputs, type ModelPair, pairOf } from './part-models.js';

/** Budget for activations of each model, and the RoI count assumed for it. */
const PIECES = { budgetBytes: 32 << 20, freeDim: 50 };

export interface ValueErrors {
  /** Compares all values of a part on its input. Does nothing if the input has no rows, or only outputs are compared. */
  add(part: string, inputs: PartValuesByName): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors): Promise<void>;
  /** undefined if only outputs are compared. */
  conclude(): readonly PartErrors[] | undefined;
  close(): Promise<void>;
}

/** The models of both sides by part. Parts are opened when they are first compared. */
export function openValueErrors(job: VerifyJob): ValueErrors {
  const comparers = new Map<string, OpenPair>();
  const open = async (part: string): Promise<OpenPair> => {
    const found = comparers.get(part);
    if (found !== undefined) return found;
    const opened = await openPair(pairOf(job, part));
    comparers.set(part, opened);
    return opened;
  };
  const isAll = job.params.values === 'all';

  return {
    async add(part, inputs) {
      if (!isAll || Object.values(inputs).some(({ dims }) => dims[0] === 0)) return;
      const { comparer, wanted } = await open(part);
      await comparer.compare(fitInputs(inputs, wanted));
    },
    async addFeeds(part, feeds) {
      if (isAll) await (await open(part)).comparer.compare(feeds);
    },
    conclude: () => (isAll ? [...comparers].map(([part, { comparer }]) => comparer.conclude(part)) : undefined),
    async close() {
      for (const { comparer } of comparers.values()) await comparer.close();
    },
  };
}

interface OpenPair {
  readonly comparer: ValueComparer;
  /** Inputs of the reference. */
  readonly wanted: readonly ModelInput[];
}

async function openPair({ reference, candidate }: ModelPair): Promise<OpenPair> {
  const [original, other] = [await readModel(reference), await readModel(candidate)];
  return { comparer: openValueComparer(original, other, PIECES), wanted: listModelInputs(original) };
}
