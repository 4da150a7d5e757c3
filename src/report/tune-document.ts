/** The document of `tune`: one schema for its writer and the table in docs/tune.md. */
import { BOUND_OPERATORS } from '../base/bound.js';
import { anyList, anyObject, anyOf, anyText, flag, mapOf, NULL, number, oneOf, openObject, text } from '../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../base/schema/figure-schema.js';
import type { FromSchema } from '../base/schema/from-schema.js';
import { NUMBER, OBJECTIVE, PROBLEMS, STATUS } from './sweep-document.js';

const TRIAL = {
  number: NUMBER,
  set: anyObject('What differs from the pipeline file: values by parameter or STAGE.SETTING.'),
  status: STATUS,
  figures: mapOf(anyOf([...FIGURE_SCHEMA.anyOf, NULL]), { description: 'The metrics of gates and objective; null where it has none.' }),
  holds: flag('Whether all gates hold.'),
  problems: PROBLEMS,
};

/** What `tune --json` prints. */
export const TUNE_DOCUMENT = openObject({
  pipeline: text('The name of the pipeline.'),
  gates: anyList(
    openObject({
      metric: text('STAGE.METRIC, or size.'),
      operator: oneOf(BOUND_OPERATORS, 'Operator of the comparison.'),
      bound: number({}, 'Bound of the comparison.'),
    }),
    'What the result must hold.',
  ),
  objective: OBJECTIVE,
  best: anyOf(
    [openObject({ ...TRIAL, yaml: anyText('What to set in the pipeline file; empty where the file is best as it is.') }), NULL],
    'The best trial; null where nothing was built.',
  ),
  trials: anyList(openObject(TRIAL), 'All trials, in their order.'),
});

export type TuneDocument = FromSchema<typeof TUNE_DOCUMENT>;
