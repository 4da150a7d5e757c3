/** The file of widened types and searched ranges: overrides and exclusions that `quantize` adds to its own. */

import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { anyList, constant, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { QuantError } from '../integers/quant-error.js';

/** Settings of one tensor: a wider type, a range, or scale and zero point. */
export const RANGE_OVERRIDE = object({
  tensor: text(),
  set: object(
    {},
    {
      dtype: oneOf(['int16', 'uint16']),
      range: constant('min-max'),
      ends: object({ low: number(), high: number() }),
      clip: number({ exclusiveMinimum: 0, maximum: 1 }, 'The share of the range that is left.'),
      scale: number({ exclusiveMinimum: 0 }),
      zeroPoint: number(),
    },
  ),
});

export type RangeOverride = FromSchema<typeof RANGE_OVERRIDE>;

const WIDENED_TYPES = object(
  {
    format: constant('tanren-widened-types/1'),
    overrides: anyList(RANGE_OVERRIDE, 'Tensors in 16 bits, and tensors with other ranges.'),
    exclude: object({ tensors: anyList(text()), outputs: anyList(text(), 'Nodes, by an output of each.') }, {}, 'What stays in float.'),
  },
  { qdqDomain: constant('com.microsoft') },
);

export type WidenedTypes = FromSchema<typeof WIDENED_TYPES>;

export const NOTHING_WIDER: WidenedTypes = { format: 'tanren-widened-types/1', overrides: [], exclude: { tensors: [], outputs: [] } };

const reader = readerOf(WIDENED_TYPES);

/** @throws QuantError `bad-widened-types`. */
export function parseWidenedTypes(json: Json): WidenedTypes {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  const details = formatJsonProblems(read.problems);
  throw new QuantError('bad-widened-types', `invalid file of widened types: ${details.slice(0, 5).join('; ')}`, {
    details,
    help: 'connect the port `overrides` of a stage `widen-types` or `search-ranges`',
  });
}
