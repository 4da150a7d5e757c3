/** The report of `refit-statistics`. */
import { anyList, anyText, constant, integer, listOf, number, openObject } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { RECOVERY_FIELDS } from '../recovery/recovery-report.js';

const REFITTED_LAYER = openObject({
  node: anyText(),
  meanShift: openObject(
    { before: number(), after: number() },
    {},
    'Root mean square over channels of the difference of means, in deviations of the reference.',
  ),
  factors: listOf(2, number(), 'The smallest and the largest factor of a channel.'),
  limited: integer(0, 'Channels whose factor was limited, or that are constant in one of the models and therefore only shifted.'),
});

export type RefittedLayer = FromSchema<typeof REFITTED_LAYER>;

export const REFIT_REPORT_SCHEMA = openObject({
  format: constant('tanren-refit-statistics/1'),
  ...RECOVERY_FIELDS,
  layers: anyList(REFITTED_LAYER),
});

export type RefitReport = FromSchema<typeof REFIT_REPORT_SCHEMA>;
