/** Reads the reports of `correct-biases` and `round-weights`. */
import { anyOf } from '../../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../../src/base/schema/from-schema.js';
import { CORRECTIONS_SCHEMA, ROUNDINGS_SCHEMA } from '../../../src/quant/recovery/recovery-report.js';
import { parserOf } from '../entries.js';

const RECOVERY = anyOf([CORRECTIONS_SCHEMA, ROUNDINGS_SCHEMA]);

export type RecoveryView = FromSchema<typeof RECOVERY>;

/** @throws StageError `report-input`. */
export const parseRecovery = parserOf(RECOVERY, 'correct-biases` or `round-weights');
