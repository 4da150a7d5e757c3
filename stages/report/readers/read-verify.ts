/** Reads reports of `verify`. */
import { mapOf, openObject } from '../../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../../src/base/schema/from-schema.js';
import { DETECTION_FIGURES_SCHEMA } from '../../../src/detection/compare/compare-detections.js';
import { PROPAGATED_SCHEMA } from '../../../src/quant/compare/propagated-error.js';
import { COMPARISON_SCHEMA } from '../../../src/tensor/compare.js';
import { parserOf } from '../entries.js';

/** `propagated`: errors of every value inside the models, where they were compared. */
const VERIFY_SCHEMA = openObject(
  { values: mapOf(COMPARISON_SCHEMA) },
  { detections: DETECTION_FIGURES_SCHEMA, propagated: PROPAGATED_SCHEMA },
);

export type VerifyView = FromSchema<typeof VERIFY_SCHEMA>;

/** @throws StageError `report-input`. */
export const parseVerify = parserOf(VERIFY_SCHEMA, 'verify');
