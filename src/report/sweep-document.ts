/** The document of `sweep`: one schema for its writers, its readers and the table in docs/sweep.md. */
import { ANYTHING, anyList, anyObject, anyText, flag, integer, mapOf, oneOf, openObject, text } from '../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../base/schema/figure-schema.js';
import type { FromSchema } from '../base/schema/from-schema.js';

export const STATUS = oneOf(
  ['built', 'gate-missed', 'failed', 'refused', 'interrupted'],
  'gate-missed: everything was built, and a gate is missed. refused: the values make no valid pipeline. interrupted: some stages have not run.',
);

export const PROBLEMS = anyList(
  openObject({ code: text('The code of the error.'), message: anyText('Its message.') }, { stage: text('The stage that failed.') }),
  'Why the configuration was not built.',
);

export const OBJECTIVE = openObject(
  {
    metric: text('STAGE.METRIC, or size.'),
    goal: oneOf(['maximize', 'minimize'], 'Which of two values is better.'),
  },
  {},
  'What is compared.',
);

export const NUMBER = integer(0, 'The number of the configuration.');

/** What `sweep --json` prints and `-o sweep.json` writes. Readers drop fields that a later version adds. */
export const SWEEP_DOCUMENT = openObject({
  pipeline: text('The name of the pipeline.'),
  axes: anyList(
    openObject({
      name: text('As it was given.'),
      sets: text('The parameter or STAGE.SETTING that it sets.'),
      values: anyList(ANYTHING, 'In their order.'),
    }),
    'What is varied; the first changes slowest.',
  ),
  objectives: anyList(OBJECTIVE, 'What configurations are sorted by, the most important first.'),
  configurations: anyList(
    openObject(
      {
        number: NUMBER,
        params: anyObject('The value of each axis, by its name.'),
        status: STATUS,
        onFront: flag('Whether no other configuration beats it in everything.'),
        metrics: mapOf(FIGURE_SCHEMA, { description: 'Figures by STAGE.METRIC: a number, or equal where an error is zero.' }),
        gatesMissed: anyList(anyText(), 'Missed gates, as STAGE.METRIC.'),
        problems: PROBLEMS,
      },
      { sizeBytes: integer(0, 'Total size of the models that it ends with; absent where one is missing.') },
    ),
    'The best first.',
  ),
});

export type SweepDocument = FromSchema<typeof SWEEP_DOCUMENT>;
