/** The input and output values that delimit a part of a detector. */
import { list, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

export const PART_VALUES_SCHEMA = object({
  inputs: list(text(), 'Names of the input values.'),
  outputs: list(text(), 'Names of the output values.'),
});

/** Value names. */
export type PartValues = FromSchema<typeof PART_VALUES_SCHEMA>;
