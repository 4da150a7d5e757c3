/** Errors of a model behind its selections, with the selection of the original, and how far both select the same: their form in the report of `verify`. */

import { anyList, anyText, integer, mapOf, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { COMPARISON_SCHEMA } from '../../tensor/compare.js';

const SELECTION_SCHEMA = object({
  value: text('The value with the positions.'),
  node: anyText('The node that selects.'),
  opType: text('Its operator.'),
  selected: integer(0, 'Number of positions that the reference selects.'),
  common: integer(0, 'How many of them the candidate selects too, in any order, with the selections before as in the reference.'),
  outputs: anyList(text('Its name.'), 'Outputs of the part that depend on it.'),
});

export type SelectionFigures = FromSchema<typeof SELECTION_SCHEMA>;

const PART_SCHEMA = object({
  part: text("The part's name; model for a model without a detector."),
  selections: anyList(SELECTION_SCHEMA, 'In graph order.'),
  values: mapOf(COMPARISON_SCHEMA, {
    description:
      'Figures of the outputs behind a selection, and of the kinds of numbers in them, with the selection of the reference in both models.',
  }),
});

export const SELECTIONS_SCHEMA = anyList(
  PART_SCHEMA,
  'An entry per part that selects elements by their values (TopK, NonMaxSuppression, ArgMax, NonZero); with `runner: cpu`.',
);

export type SelectedErrors = FromSchema<typeof PART_SCHEMA>;
