/** Reads the rows that `tanren sweep -o sweep.json` wrote. */
import { anyList, anyObject, anyText, flag, integer, mapOf, openObject, text } from '../../../src/base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../../../src/base/schema/figure-schema.js';
import type { FromSchema } from '../../../src/base/schema/from-schema.js';
import { parserOf } from '../entries.js';

const SWEEP = openObject({
  axes: anyList(openObject({ name: text() })),
  objectives: anyList(openObject({ metric: text(), goal: text() }), 'In the order of importance.'),
  configurations: anyList(
    openObject(
      {
        number: integer(1),
        params: anyObject(),
        status: text(),
        onFront: flag(),
        metrics: mapOf(FIGURE_SCHEMA),
        gatesMissed: anyList(anyText()),
        problems: anyList(openObject({ message: anyText() })),
      },
      { sizeBytes: integer(0) },
    ),
    'The best first.',
  ),
});

export type SweepView = FromSchema<typeof SWEEP>;
export type SweepRowView = SweepView['configurations'][number];

/** @throws StageError `report-input`. */
export const parseSweep = parserOf(SWEEP, 'tanren sweep -o sweep.json');
