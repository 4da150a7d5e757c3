/** The models of one part on both sides, and its inputs in the form that a model of it takes. */

import { getDefined } from '../../src/base/invariant.js';
import { asGiven, type PartValuesByName } from '../../src/detection/detector/part-runner.js';
import type { ModelInput, NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import { takeRows } from '../../src/tensor/rows.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import type { VerifyJob } from './params.js';

/** Limit on RoIs per image: the first ones suffice to locate errors, and inner values of hundreds are slow. */
const MOST_ROIS = 50;

export interface ModelPair {
  readonly reference: string;
  readonly candidate: string;
}

/** Paths of the part's models, where both sides are models of parts. */
export function pairOf({ params, inputs }: Pick<VerifyJob, 'params' | 'inputs'>, part: string): ModelPair {
  const path = (side: string): string =>
    params.part !== undefined || params.reference === 'model'
      ? getInputPath(inputs, side)
      : getDefined(getInputRecord(inputs, side)[part], part);
  return { reference: path('reference'), candidate: path('candidate') };
}

/** A part's inputs under the model's names: by name, or by position if names were changed. */
export function fitInputs(inputs: PartValuesByName, wanted: readonly ModelInput[]): NamedTensors {
  const given = asGiven(inputs);
  const all = Object.values(given);
  const isNamed = wanted.every(({ name }) => given[name] !== undefined);
  return Object.fromEntries(
    wanted.map(({ name, dims }, index) => {
      const tensor = getDefined(isNamed ? given[name] : all[index], `input "${name}"`);
      return [name, fitRows(tensor, dims?.[0])];
    }),
  );
}

/** The rows of a fixed batch, repeated from the first if there are fewer; never zeros. */
function fitRows(tensor: Tensor, batch: unknown): Tensor {
  const [rows = 0] = tensor.dims;
  const count = typeof batch === 'number' ? batch : Math.min(rows, MOST_ROIS);
  return count === rows ? tensor : takeRows(tensor, count);
}
