/** What became of the bias of one layer: the document that a stage keeps per layer. */
import type { Json } from '../../base/json.js';
import { integer, list, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { type KeptDocument, parseKept } from '../integers/parse-kept.js';

/** `after` belongs to the bias that was tried, whether it was kept or not. */
const CHANGE = object({ before: number(), after: number() });

const CORRECTION = object({
  node: text(),
  result: oneOf(
    ['corrected', 'below-half-a-step', 'error-not-lower'],
    'Why the bias stays: the shift rounds to nothing, or the error of the output did not fall.',
  ),
  meanError: CHANGE,
  signal: number({}, 'Sum of squares of the float output behind its activation function.'),
  noise: CHANGE,
  saturated: integer(0, 'Elements that the type of the bias could not hold.'),
  elements: list(number(), 'The stored bias.'),
});

export type LayerCorrection = FromSchema<typeof CORRECTION>;

const reader = readerOf(list(CORRECTION));

/** What `correct-biases` keeps. */
export const CORRECTION_DOCUMENT: KeptDocument = { code: 'bad-correction', what: 'corrections of biases' };

/** @throws QuantError `bad-correction`. */
export function parseCorrections(json: Json): readonly LayerCorrection[] {
  return parseKept(json, reader, CORRECTION_DOCUMENT);
}
