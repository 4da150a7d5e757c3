/** What became of the weights of one layer: the document that a stage keeps per layer, beside the integers. */
import type { Json } from '../../../base/json.js';
import { formatJsonProblems, readJsonShape } from '../../../base/json-shape.js';
import { flag, integer, number, object, oneOf, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { QuantError } from '../../integers/quant-error.js';

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

/** @throws QuantError `bad-rounding`. */
export function parseRounding(json: Json): LayerRounding {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  const details = formatJsonProblems(read.problems);
  throw new QuantError('bad-rounding', `invalid rounding of a layer: ${details.join('; ')}`, {
    details,
    help: 'build the stage again with `--force`',
  });
}
