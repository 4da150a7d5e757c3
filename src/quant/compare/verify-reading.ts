/** What readers need of the report of `verify`: the one schema for the stage `report` and for pages. Its writer has a larger one. */
import type { JsonObject } from '../../base/json.js';
import { mapOf, openObject } from '../../base/schema/build-schema.js';
import { COMPARISON_SCHEMA } from '../../tensor/compare.js';
import { PROPAGATED_SCHEMA } from './propagated-error.js';

/** @param detections the schema of the figures of detections, of the library of detectors, which this one does not know. */
export function verifyReadingOf<const Detections extends JsonObject>(detections: Detections) {
  return openObject({ values: mapOf(COMPARISON_SCHEMA) }, { detections, propagated: PROPAGATED_SCHEMA });
}
