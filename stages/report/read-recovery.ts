/** Reads the parts of the reports of `correct-biases` and `round-weights` that the page needs. */
import { anyList, anyOf, constant, integer, NULL, number, object, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { parserOf } from './entries.js';

/** In dB; null without error. */
const CHANGE = object({ before: anyOf([NULL, number()]), after: anyOf([NULL, number()]) });

const SHARED = {
  samples: integer(0),
  outputs: anyList(openObject({ name: text(), sqnrDb: CHANGE })),
  skipped: anyList(openObject({ node: text(), opType: text(), reason: text() })),
};

const CORRECTIONS = openObject({
  ...SHARED,
  format: constant('tanren-bias-corrections/1'),
  layers: anyList(openObject({ node: text(), result: text(), sqnrDb: CHANGE, saturated: integer(0) })),
});

const ROUNDINGS = openObject({
  ...SHARED,
  format: constant('tanren-weight-roundings/1'),
  layers: anyList(openObject({ node: text(), result: text(), sqnrDb: CHANGE, changed: integer(0) })),
});

const RECOVERY = anyOf([CORRECTIONS, ROUNDINGS]);

export type RecoveryView = FromSchema<typeof RECOVERY>;

/** @throws StageError `report-input`. */
export const parseRecovery = parserOf(RECOVERY, 'correct-biases` or `round-weights');
