/** The report of `split`. */
import { anyList, integer, list, mapOf, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';

const PART = openObject({
  inputs: list(text(), 'Names of the input values.'),
  outputs: list(text(), 'Names of the output values.'),
  nodes: integer(0),
  initializers: integer(0, 'Number of constants of the model file.'),
  initializerBytes: integer(0),
});

export type PartReport = FromSchema<typeof PART>;

export const SPLIT_REPORT_SCHEMA = openObject(
  {
    parts: mapOf(PART),
    inNoPart: anyList(text(), 'Nodes that are in no part: operator and first output.'),
  },
  {
    found: mapOf(text(), { description: 'With `cuts: structure`: the values at the cuts, by what they are in the detector.' }),
    dataDependent: anyList(text(), 'With `cuts: static`: nodes from which on sizes depend on the data.'),
  },
);

export type SplitReport = FromSchema<typeof SPLIT_REPORT_SCHEMA>;
