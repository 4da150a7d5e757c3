/** The reports of stages that recover accuracy: one schema for their writers and readers. */
import { anyList, anyOf, anyText, constant, flag, integer, NULL, number, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { GUARD_SCHEMA } from './output-guard.js';

const DECIBELS = anyOf([NULL, number()]);

const CHANGE = openObject({ before: DECIBELS, after: DECIBELS }, {}, 'SQNR in dB; null without error.');

/** Fields that these reports share. */
export const RECOVERY_FIELDS = {
  samples: integer(0),
  outputs: anyList(openObject({ name: text(), sqnrDb: CHANGE })),
  skipped: anyList(openObject({ node: anyText(), opType: text(), reason: text() })),
};

/** With `guard: outputs`. */
const GUARD = { guard: GUARD_SCHEMA };

const LAYER = { node: text(), result: text('Whether the layer was changed, or why not.') };

export const CORRECTIONS_SCHEMA = openObject(
  {
    format: constant('tanren-bias-corrections/1'),
    ...RECOVERY_FIELDS,
    corrected: integer(0, 'Number of layers.'),
    layers: anyList(
      openObject({
        ...LAYER,
        meanError: openObject({ before: number(), after: number() }),
        sqnrDb: CHANGE,
        saturated: integer(0, 'Elements that the type of the bias could not hold.'),
      }),
    ),
  },
  GUARD,
);

export type CorrectionsReport = FromSchema<typeof CORRECTIONS_SCHEMA>;

export const ROUNDINGS_SCHEMA = openObject(
  {
    format: constant('tanren-weight-roundings/1'),
    ...RECOVERY_FIELDS,
    rounded: integer(0, 'Number of layers.'),
    layers: anyList(
      openObject(
        { ...LAYER, sqnrDb: CHANGE, changed: integer(0, 'Number of weights whose integers were tried to change.') },
        { fitted: flag('Whether the weights were fitted to the outputs of the float network first.'), damping: number() },
      ),
    ),
  },
  GUARD,
);

export type RoundingsReport = FromSchema<typeof ROUNDINGS_SCHEMA>;

/** Of either stage; `format` tells which. */
export const RECOVERY_SCHEMA = anyOf([CORRECTIONS_SCHEMA, ROUNDINGS_SCHEMA]);

export type RecoveryReport = FromSchema<typeof RECOVERY_SCHEMA>;
