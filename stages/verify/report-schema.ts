/** The report of `verify`: one schema for its writer and for its table in docs/stages/verify.md. Readers of a member take the schema of the member. */
import { anyList, anyOf, anyText, mapOf, NULL, number, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { DETECTION_FIGURES_SCHEMA, LONE_OBJECT_SCHEMA } from '../../src/detection/compare/detection-figures.js';
import { PROPAGATED_SCHEMA } from '../../src/quant/compare/propagated-error.js';
import { SELECTIONS_SCHEMA } from '../../src/quant/compare/selected-errors.js';
import { COMPARISON_SCHEMA } from '../../src/tensor/compare.js';

export const VERIFY_REPORT = openObject(
  { values: mapOf(COMPARISON_SCHEMA, { description: 'Figures over all images or samples, by name of the value.' }) },
  {
    images: anyList(anyOf([number(), anyText(), NULL]), 'Ids of the compared images.'),
    samples: anyList(text(), 'Names of the compared samples, instead of images.'),
    detections: openObject(
      {
        ...DETECTION_FIGURES_SCHEMA.properties,
        missedObjects: anyList(LONE_OBJECT_SCHEMA, 'Detections of the reference without a partner.'),
        extraObjects: anyList(LONE_OBJECT_SCHEMA, 'Detections of the candidate without a partner.'),
      },
      {},
      'Where whole detectors are compared.',
    ),
    selections: SELECTIONS_SCHEMA,
    propagated: PROPAGATED_SCHEMA,
  },
);

export type VerifyReport = FromSchema<typeof VERIFY_REPORT>;
