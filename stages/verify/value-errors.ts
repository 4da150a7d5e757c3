/** Compares every inner value of the parts: runs both models of each part again, segment by segment. */

import { getDefined } from '../../src/base/invariant.js';
import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openValueComparer, type ValueComparer } from '../../src/quant/compare/compare-values.js';
import type { PartErrors } from '../../src/quant/compare/propagated-error.js';
import { listModelInputs, type ModelInput, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import { takeRows } from '../../src/tensor/rows.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import type { VerifyJob } from './params.js';

/** Budget for activations of each model, and the RoI count assumed for it. */
const PIECES = { budgetBytes: 32 << 20, freeDim: 50 };

/** Limit on RoIs per image: the first ones suffice to locate errors, and inner values of hundreds are slow. */
const MOST_ROIS = 50;

export interface ValueErrors {
  /** Compares all values of a part on its input. Does nothing if the input has no rows, or only outputs are compared. */
  add(part: string, inputs: PartValuesByName): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors): Promise<void>;
  /** undefined if only outputs are compared. */
  conclude(): readonly PartErrors[] | undefined;
  close(): Promise<void>;
}

export interface ModelPair {
  readonly reference: string;
  readonly candidate: string;
}

/** The models of both sides by part. Parts are opened when they are first compared. */
export function openValueErrors({ params, inputs }: VerifyJob): ValueErrors {
  const comparers = new Map<string, OpenPair>();
  const open = async (part: string): Promise<OpenPair> => {
    const found = comparers.get(part);
    if (found !== undefined) return found;
    const opened = await openPair(modelsOf(part));
    comparers.set(part, opened);
    return opened;
  };
  const isAll = params.values === 'all';

  function modelsOf(part: string): ModelPair {
    const path = (side: string): string =>
      params.part !== undefined || params.reference === 'model'
        ? getInputPath(inputs, side)
        : getDefined(getInputRecord(inputs, side)[part], part);
    return { reference: path('reference'), candidate: path('candidate') };
  }

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

/** A part's inputs under the model's names: by name, or by position if names were changed. */
function fitInputs(inputs: PartValuesByName, wanted: readonly ModelInput[]): NamedTensors {
  const all = Object.values(inputs);
  const isNamed = wanted.every(({ name }) => inputs[name] !== undefined);
  return Object.fromEntries(
    wanted.map(({ name, dims }, index) => {
      const tensor = getDefined(isNamed ? inputs[name] : all[index], `input "${name}"`);
      return [name, fitRows(tensor, dims?.[0])];
    }),
  );
}

/** The rows of a fixed batch, repeated from the first if there are fewer; never zeros. */
function fitRows(tensor: Tensor<'float32'>, batch: unknown): Tensor {
  const [rows = 0] = tensor.dims;
  const count = typeof batch === 'number' ? batch : Math.min(rows, MOST_ROIS);
  return count === rows ? tensor : takeRows(tensor, count);
}
