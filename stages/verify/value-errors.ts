/** How far has every value moved, not the outputs alone? Both models of each part run once more, piece by piece, with all values in sight. */

import { getDefined } from '../../src/base/invariant.js';
import type { MaskRcnnPart } from '../../src/detection/recipe.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openValueComparer, type ValueComparer } from '../../src/quant/compare-values.js';
import type { PartErrors } from '../../src/quant/propagated-error.js';
import { listModelInputs, type NamedTensors } from '../../src/runtime/model-inputs.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import { takeRows } from '../../src/tensor/rows.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import type { VerifyJob } from './params.js';

/** How much of the activations of each model is held at once, and for how many RoIs that is divided. */
const PIECES = { budgetBytes: 32 << 20, freeDim: 50 };

/** The first RoIs of an image are enough to see where errors come from: inner values of hundreds take long. */
const MOST_ROIS = 50;

export interface ValueErrors {
  /** Compares all values of a part on its input; nothing where the input has no rows, or outputs alone are compared. */
  add(part: MaskRcnnPart, input: Tensor<'float32'>): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors): Promise<void>;
  /** undefined where outputs alone are compared. */
  conclude(): readonly PartErrors[] | undefined;
  close(): Promise<void>;
}

export interface ModelPair {
  readonly reference: string;
  readonly candidate: string;
}

/** The models of both sides by part; parts are opened when they are first compared. */
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
    async add(part, input) {
      const [rows = 0] = input.dims;
      if (!isAll || rows === 0) return;
      const { comparer, name, batch } = await open(part);
      await comparer.compare({ [name]: fitRows(input, rows, batch) });
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
  /** The first input of the reference, and its first size where the model fixes it. */
  readonly name: string;
  readonly batch: number | undefined;
}

async function openPair({ reference, candidate }: ModelPair): Promise<OpenPair> {
  const [original, other] = [await readModel(reference), await readModel(candidate)];
  const [input] = listModelInputs(original);
  const batch = input?.dims?.[0];
  return {
    comparer: openValueComparer(original, other, PIECES),
    name: input?.name ?? '',
    batch: typeof batch === 'number' ? batch : undefined,
  };
}

/** As many rows as a fixed batch has, repeated from the first where there are fewer: no zeros. */
function fitRows(input: Tensor<'float32'>, rows: number, batch: number | undefined): Tensor {
  const wanted = batch ?? Math.min(rows, MOST_ROIS);
  return wanted === rows ? input : takeRows(input, wanted);
}
