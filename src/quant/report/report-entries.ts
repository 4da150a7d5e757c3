/** The form of the report of `quantize`, and its reader. */

import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import {
  anyList,
  anyObject,
  anyOf,
  anyText,
  constant,
  flag,
  integer,
  NULL,
  number,
  object,
  oneOf,
  text,
} from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { ACCUMULATOR_SCHEMA } from '../exact/accumulator-schema.js';
import { QuantError } from '../integers/quant-error.js';
import { QUANTIZED_DTYPES } from '../integers/quantized-dtype.js';
import { withPresentNames } from './former-names.js';

const DECIBELS = anyOf([NULL, number()], 'SQNR in dB; null if nothing is lost.');

export type Decibels = FromSchema<typeof DECIBELS>;

const DTYPE = oneOf(QUANTIZED_DTYPES);
const SHARE = { minimum: 0, maximum: 1 } as const;
const POSITIVE = { exclusiveMinimum: 0 } as const;
const POSITION = number({}, 'Present for a power-of-two scale.');

const ACTIVATION_SCHEMA = object(
  {
    name: text(),
    method: text(),
    range: anyList(number()),
    dtype: DTYPE,
    scale: number(POSITIVE),
    zeroPoint: number(),
  },
  {
    dataRange: anyList(number(), 'Smallest and largest element during calibration.'),
    elements: integer(0),
    saturationShare: number(SHARE, 'Share of the elements beyond the range of the integers.'),
    sqnrDb: DECIBELS,
    sharedWith: text('The activation or constant whose parameters are used.'),
    position: POSITION,
  },
  '`sqnrDb` is that of this value alone.',
);

export type ActivationEntry = FromSchema<typeof ACTIVATION_SCHEMA>;

const WEIGHT_SCHEMA = object(
  {
    name: text(),
    role: oneOf(['weight', 'activation']),
    method: text(),
    dtype: DTYPE,
    scale: anyList(number(POSITIVE)),
    zeroPoint: anyList(number()),
    sqnrDb: DECIBELS,
  },
  { axis: integer(0), position: POSITION, widenedForBias: constant(true) },
);

export type WeightEntry = FromSchema<typeof WEIGHT_SCHEMA>;

const BIAS_SCHEMA = object(
  {
    name: text(),
    nodes: anyList(anyText()),
    dtype: oneOf(['int8', 'int16', 'int32']),
    scale: anyList(number(POSITIVE)),
    sqnrDb: DECIBELS,
  },
  { saturated: integer(0, 'Number of elements that the type could not hold.') },
);

export type BiasEntry = FromSchema<typeof BIAS_SCHEMA>;

const JOIN_SCHEMA = object({
  node: anyText(),
  output: text(),
  inputs: anyList(
    object({ name: text(), dataRange: anyList(number()), sqnrDb: DECIBELS, ownSqnrDb: DECIBELS }),
    'SQNR at the scale of all inputs, and at that of the input alone.',
  ),
  separable: flag('Whether the result is only moved to outputs, so that `joins: separate` applies.'),
  separated: flag(),
});

export type JoinEntry = FromSchema<typeof JOIN_SCHEMA>;

const RULE_SCHEMA = object({ rule: text(), node: anyText(), opType: text() });

const MOVE_SCHEMA = object(
  {
    name: text(),
    role: oneOf(['activation', 'weight', 'bias']),
    from: number(),
    to: number(),
    price: number({}, 'By how much the relative squared error of the tensor grows; negative if it falls.'),
    sqnrDbBefore: DECIBELS,
    sqnrDbAfter: DECIBELS,
    reasons: anyList(RULE_SCHEMA, 'The rules that involve the tensor.'),
  },
  {},
  'A scale that moved: 2^−from became 2^−to.',
);

const POSITIONS_SCHEMA = object(
  {
    method: oneOf(['quark', 'joint']),
    moves: anyList(MOVE_SCHEMA, 'By name.'),
    price: number({ minimum: 0 }, 'Of all moves.'),
    unmet: anyList(RULE_SCHEMA, 'Rules that do not hold in the end.'),
  },
  { isOptimal: flag('Whether no other positions have a lower price; absent for quark.') },
);

export type PositionsEntry = FromSchema<typeof POSITIONS_SCHEMA>;

const REASON_FIELDS = { node: anyText(), opType: text(), reason: text() } as const;
const REASON_SCHEMA = object(REASON_FIELDS);

export type ReasonEntry = FromSchema<typeof REASON_SCHEMA>;

const INPUT = text('The value before the activation function. It has no Q and DQ.');
const FUSED_SCHEMA = object({ node: anyText(), opType: text(), input: INPUT });

export type FusedEntry = FromSchema<typeof FUSED_SCHEMA>;

export const QUANTIZATION_SCHEMA = object(
  {
    scheme: anyObject(),
    samples: integer(0),
    counts: anyObject(),
    activations: anyList(ACTIVATION_SCHEMA, 'In graph order.'),
    weights: anyList(WEIGHT_SCHEMA),
    biases: anyList(BIAS_SCHEMA),
    removed: anyList(object({ ...REASON_FIELDS, input: INPUT }), 'Activation functions replaced by saturation.'),
    fused: anyList(FUSED_SCHEMA, 'Activation functions without Q and DQ before them.'),
    inFloat: anyList(REASON_SCHEMA),
    accumulators: anyList(ACCUMULATOR_SCHEMA, "Bounds on the accumulator sums of the quantized model's layers."),
  },
  {
    joins: anyList(JOIN_SCHEMA, 'Concats of unlike ranges; absent if there are none.'),
    masks: anyList(text(), 'Values with elements that are infinite or 10⁸ and beyond, which stay in float; absent if there are none.'),
    unreached: anyList(text(), 'Values of which calibration saw no element; absent if there are none.'),
    positions: { ...POSITIONS_SCHEMA, description: 'Positions that moved into the bounds of the target; absent without `refine`.' },
  },
);

export type QuantizationReport = FromSchema<typeof QUANTIZATION_SCHEMA>;

const reportReader = readerOf(QUANTIZATION_SCHEMA);

/**
 * Reads a report with present or former names of fields; `warn` is told which former ones it has.
 * @throws QuantError `bad-quantization-report`, listing every problem.
 */
export function parseQuantizationReport(value: Json, warn: (message: string) => void): QuantizationReport {
  const { report, former } = withPresentNames(value);
  if (former.length > 0)
    warn(`the quantization report has former names of fields (${former.join(', ')}); the next build of its stage writes the present ones`);
  const read = readJsonShape(reportReader, report);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new QuantError('bad-quantization-report', `invalid quantization report: ${lines.slice(0, 5).join('; ')}`, {
    details: lines,
    help: 'run `quantize` again with this version to write a new report',
  });
}
