/** Range methods in a pipeline file: a name, or an object with settings. Absent settings have defaults. */
import { assertNever } from '../../base/assert-never.js';
import type { JsonObject } from '../../base/json.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { NON_OVERFLOW, QUARK_MIN_MSE, type RangeMethod } from '../range/range-method.js';
import type { WeightRangeMethod } from '../range/weight-range.js';

const PERCENTILE_SCHEMA = { type: 'number', exclusiveMinimum: 50, maximum: 100 } as const;
const SHARE_SCHEMA = { type: 'number', exclusiveMinimum: 0, maximum: 1 } as const;
const COUNT_SCHEMA = { type: 'integer', minimum: 2, maximum: 65536 } as const;
const OFFSET_SCHEMA = { type: 'integer', minimum: -8, maximum: 16 } as const;

const kindSchema = <const Kind extends string, const Knobs extends JsonObject>(kind: Kind, knobs: Knobs) =>
  ({ type: 'object', additionalProperties: false, required: ['kind'], properties: { kind: { const: kind }, ...knobs } }) as const;

const FLOAT_RANGES = [
  kindSchema('min-max', {}),
  kindSchema('clip', { share: SHARE_SCHEMA }),
  kindSchema('percentile', { percentile: PERCENTILE_SCHEMA, sides: { enum: ['magnitude', 'each'] } }),
  kindSchema('entropy', { levels: { anyOf: [COUNT_SCHEMA, { const: 'integers' }] } }),
  kindSchema('mse', { candidates: COUNT_SCHEMA }),
] as const;

const MIN_MSE = kindSchema('min-mse', { first: OFFSET_SCHEMA, last: OFFSET_SCHEMA });
const ROUNDING = { rounding: { enum: ['nearest', 'up'] } } as const;

/** For activations. */
export const RANGE_SCHEMAS = [
  {
    type: 'string',
    enum: [
      'min-max',
      'percentile',
      'entropy',
      'mse',
      'power-of-two-min-mse',
      'power-of-two-non-overflow',
      'power-of-two',
      'ort-moving-average',
      'ort-percentile',
      'ort-entropy',
    ],
  },
  ...FLOAT_RANGES,
  kindSchema('power-of-two', { position: { anyOf: [MIN_MSE, kindSchema('non-overflow', { of: { anyOf: FLOAT_RANGES }, ...ROUNDING })] } }),
  kindSchema('ort-moving-average', {}),
  kindSchema('ort-percentile', { percentile: PERCENTILE_SCHEMA, of: { enum: ['magnitudes', 'values'] }, bins: COUNT_SCHEMA }),
  kindSchema('ort-entropy', { bins: COUNT_SCHEMA, quantizedBins: COUNT_SCHEMA }),
] as const;

/** For weights. */
export const WEIGHT_RANGE_SCHEMAS = [
  { type: 'string', enum: ['min-max', 'mse', 'power-of-two-min-mse', 'power-of-two-non-overflow'] },
  kindSchema('min-max', {}),
  kindSchema('clip', { share: SHARE_SCHEMA }),
  kindSchema('mse', { candidates: COUNT_SCHEMA }),
  kindSchema('power-of-two', { position: { anyOf: [MIN_MSE, kindSchema('non-overflow', ROUNDING)] } }),
] as const;

export type RangeName = FromSchema<(typeof RANGE_SCHEMAS)[0]>;
export type RangeParam = FromSchema<(typeof RANGE_SCHEMAS)[number]>;
type RangeObject = Extract<RangeParam, object>;
type FloatRangeObject = FromSchema<(typeof FLOAT_RANGES)[number]>;
type PositionObject = NonNullable<Extract<RangeObject, { readonly kind: 'power-of-two' }>['position']>;

export type WeightRangeParam = FromSchema<(typeof WEIGHT_RANGE_SCHEMAS)[number]>;

/** Defaults of absent settings. */
const SHARE = 1;
const PERCENTILE = 99.99;
const LEVELS = 'integers';
const CANDIDATES = 100;
const ORT_BINS = 2048;
const ORT_ENTROPY_BINS = 128;

export function toRangeMethod(param: RangeParam): RangeMethod {
  if (param === 'power-of-two-min-mse') return QUARK_MIN_MSE;
  if (param === 'power-of-two-non-overflow') return NON_OVERFLOW;
  return typeof param === 'string' ? fillKnobs({ kind: param }) : fillKnobs(param);
}

function fillKnobs(object: RangeObject): RangeMethod {
  switch (object.kind) {
    case 'min-max':
    case 'clip':
    case 'percentile':
    case 'entropy':
    case 'mse':
      return fillFloatKnobs(object);
    case 'power-of-two':
      return { kind: 'power-of-two', position: fillPosition(object.position ?? { kind: 'min-mse' }) };
    case 'ort-moving-average':
      return { kind: object.kind };
    case 'ort-percentile':
      return { percentile: 99.999, of: 'magnitudes', bins: ORT_BINS, ...object };
    case 'ort-entropy':
      return { bins: ORT_ENTROPY_BINS, quantizedBins: ORT_ENTROPY_BINS, ...object };
    default:
      return assertNever(object);
  }
}

function fillFloatKnobs(object: FloatRangeObject): Extract<RangeMethod, { readonly kind: FloatRangeObject['kind'] }> {
  switch (object.kind) {
    case 'min-max':
      return { kind: object.kind };
    case 'clip':
      return { share: SHARE, ...object };
    case 'percentile':
      return { percentile: PERCENTILE, sides: 'magnitude', ...object };
    case 'entropy':
      return { levels: LEVELS, ...object };
    case 'mse':
      return { candidates: CANDIDATES, ...object };
    default:
      return assertNever(object);
  }
}

function fillPosition(object: PositionObject): Extract<RangeMethod, { readonly kind: 'power-of-two' }>['position'] {
  switch (object.kind) {
    case 'min-mse':
      return { first: -1, last: 3, ...object };
    case 'non-overflow':
      return { rounding: 'nearest', ...object, of: fillFloatKnobs(object.of ?? { kind: 'min-max' }) };
    default:
      return assertNever(object);
  }
}

export function toWeightMethod(param: WeightRangeParam): WeightRangeMethod {
  if (param === 'min-max') return { kind: param };
  if (param === 'mse') return { kind: param, candidates: CANDIDATES };
  if (param === 'power-of-two-min-mse') return toWeightMethod({ kind: 'power-of-two', position: { kind: 'min-mse' } });
  if (param === 'power-of-two-non-overflow') return toWeightMethod({ kind: 'power-of-two', position: { kind: 'non-overflow' } });
  if (param.kind === 'min-max') return { kind: param.kind };
  if (param.kind === 'clip') return { share: SHARE, ...param };
  if (param.kind === 'mse') return { candidates: CANDIDATES, ...param };
  const { position = { kind: 'min-mse' } } = param;
  if (position.kind === 'min-mse') return { kind: 'power-of-two', position: { first: -1, last: 3, ...position } };
  return { kind: 'power-of-two', position: { rounding: 'nearest', ...position, of: { kind: 'min-max' } } };
}
