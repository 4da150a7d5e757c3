/** What became of the weights of one layer: the document that a stage keeps per layer, beside the integers. */
import type { Json } from '../../../base/json.js';
import { flag, integer, number, object, oneOf, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { type KeptDocument, parseKept } from '../../integers/parse-kept.js';

const ROUNDING = object(
  {
    node: text(),
    result: oneOf(
      ['rounded', 'same-integers', 'error-not-lower'],
      'Why the weights stay: nothing rounds differently, or the error of the output did not fall.',
    ),
    signal: number({}, 'Sum of squares of the float output behind its activation function, over the samples that judge.'),
    noise: object({ before: number(), after: number({}, 'With the weights that were tried, whether they were kept or not.') }),
    changed: integer(0, 'Number of weights whose integers were tried to change.'),
  },
  { fitted: flag('Whether the weights were fitted to the outputs of the float network first.'), damping: number() },
);

export type LayerRounding = FromSchema<typeof ROUNDING>;

const reader = readerOf(ROUNDING);

/** What `round-weights` keeps. */
export const ROUNDING_DOCUMENT: KeptDocument = { code: 'bad-rounding', what: 'rounding of a layer' };

/** @throws QuantError `bad-rounding`. */
export function parseRounding(json: Json): LayerRounding {
  return parseKept(json, reader, ROUNDING_DOCUMENT);
}
