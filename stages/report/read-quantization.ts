/** Reads the parts of a `quantize` report that the page needs. */
import { anyList, anyObject, anyOf, anyText, integer, listOf, NULL, number, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import type { QuantizationReport } from '../../src/quant/report/report-entries.js';
import { parserOf, type ViewOf } from './entries.js';

const DECIBELS = anyOf([NULL, number()], 'Of quantizing this value alone; null: nothing is lost.');
const PAIR = listOf(2, number());

const ACTIVATION_SCHEMA = openObject(
  { name: text(), method: text(), range: PAIR, dtype: text(), scale: number({ exclusiveMinimum: 0 }), zeroPoint: integer(-(2 ** 31)) },
  {
    sharedWith: text(),
    dataRange: listOf(2, number(), 'Range in calibration; absent where nothing is known of the value itself.'),
    saturationShare: number({ minimum: 0, maximum: 1 }),
    sqnrDb: DECIBELS,
  },
);

export type ActivationView = FromSchema<typeof ACTIVATION_SCHEMA>;

const WEIGHT_SCHEMA = openObject({ name: text(), dtype: text(), sqnrDb: DECIBELS });

export type WeightView = FromSchema<typeof WEIGHT_SCHEMA>;

const QUANTIZATION_SCHEMA = openObject({
  scheme: anyObject(),
  samples: integer(0),
  activations: anyList(ACTIVATION_SCHEMA),
  weights: anyList(WEIGHT_SCHEMA),
  inFloat: anyList(openObject({ node: anyText(), opType: text(), reason: text() })),
});

export type QuantizationView = ViewOf<QuantizationReport, FromSchema<typeof QUANTIZATION_SCHEMA>>;

/** @throws StageError `report-input`. */
export const parseQuantization = parserOf(QUANTIZATION_SCHEMA, 'quantize');
