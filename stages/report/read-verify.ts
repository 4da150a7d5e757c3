/** Reads the parts of a `verify` report that the page needs. */
import { isJsonObject, type Json } from '../../src/base/json.js';
import { anyList, anyText, integer, mapOf, number, openObject } from '../../src/base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../../src/base/schema/figure-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import type { DetectionFigures as WrittenFigures } from '../../src/detection/compare/compare-detections.js';
import { findPropagatedErrors, type PartErrors } from '../../src/quant/compare/propagated-error.js';
import type { ComparisonFigures } from '../../src/tensor/compare.js';
import { parserOf, type ViewOf } from './entries.js';

const VALUE_SCHEMA = openObject({ maxAbs: number({ minimum: 0 }), cosine: number(), sqnrDb: FIGURE_SCHEMA });

export type ValueFigures = ViewOf<ComparisonFigures, FromSchema<typeof VALUE_SCHEMA>>;

const DETECTIONS_SCHEMA = openObject({
  reference: integer(0),
  candidate: integer(0),
  matched: integer(0),
  missed: integer(0),
  extra: integer(0),
  maxScoreDifference: number(),
  meanBoxIou: number(),
  meanMaskIou: number(),
});

export type DetectionFigures = ViewOf<WrittenFigures, FromSchema<typeof DETECTIONS_SCHEMA>>;

const VERIFY_SCHEMA = openObject({ values: mapOf(VALUE_SCHEMA), missedThresholds: anyList(anyText()) }, { detections: DETECTIONS_SCHEMA });

/** `propagated`: errors of every value inside the models, where they were compared. */
export type VerifyView = FromSchema<typeof VERIFY_SCHEMA> & { readonly propagated: readonly PartErrors[] };

const parse = parserOf(VERIFY_SCHEMA, 'verify');

/** @throws StageError `report-input`, QuantError `bad-verify-report`. */
export function parseVerify(value: Json): VerifyView {
  const view = parse(isJsonObject(value) ? { values: {}, missedThresholds: [], ...value } : value);
  return { ...view, propagated: findPropagatedErrors(value) ?? [] };
}
