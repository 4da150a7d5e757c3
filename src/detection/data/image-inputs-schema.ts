/** The inputs of a model that are made of one image: the image itself, its sizes and scale, and stated constants. */
import type { JsonObject } from '../../base/json.js';
import { anyList, anyOf, constant, integer, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { IMAGE_DTYPES, IMAGE_FORM_SCHEMA, type ImageForm } from '../image/image-form.js';
import { SIZE_WORDS } from '../image/image-words.js';

const VALUES_SCHEMA = anyList(anyOf([number(), oneOf(SIZE_WORDS)]));

const OTHER_SCHEMA = anyOf([
  object({ kind: constant('image'), name: text(), form: IMAGE_FORM_SCHEMA }),
  object(
    { kind: constant('values'), name: text(), dtype: oneOf(IMAGE_DTYPES), dims: anyList(integer(0)), values: VALUES_SCHEMA },
    {},
    'The values fill the input in its order; one is for all elements.',
  ),
]);

/** An input besides the image. */
export const OTHER_INPUTS_SCHEMA = anyList(OTHER_SCHEMA);

export type OtherInput = FromSchema<typeof OTHER_SCHEMA>;

export interface ImageInputs extends JsonObject {
  readonly image: { readonly name: string; readonly form: ImageForm };
  readonly others: readonly OtherInput[];
  /** All inputs in the order of the model. */
  readonly order: readonly string[];
}

export type ValuesInput = Extract<OtherInput, { readonly kind: 'values' }>;

/** Whether each image of the batch has values of its own. */
export function isPerImage({ dims, values }: Pick<ValuesInput, 'dims' | 'values'>, batch: number): boolean {
  return batch > 1 && dims[0] === batch && values.length !== countOfDims(dims);
}

export const countOfDims = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
