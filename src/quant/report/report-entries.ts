/** The form of the report of `quantize`, and its reader. */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import {
  anyList,
  anyText,
  fields,
  flag,
  formatJsonProblems,
  integer,
  type JsonReader,
  literal,
  maybe,
  number,
  readJsonShape,
  text,
} from '../../base/json-shape.js';
import type { AccumulatorBound } from '../exact/accumulator-bounds.js';
import { QuantError } from '../integers/quant-error.js';
import type { QuantizedDType } from '../integers/quantized-dtype.js';
import type { BiasDType } from '../scheme/scheme.js';

export type QuantizationReport = {
  readonly scheme: JsonObject;
  readonly samples: number;
  readonly counts: JsonObject;
  /** In graph order. */
  readonly activations: readonly ActivationEntry[];
  readonly weights: readonly WeightEntry[];
  readonly biases: readonly BiasEntry[];
  /** Activation functions replaced by saturation. */
  readonly leftOut: readonly (ReasonEntry & FusedEntry)[];
  /** Activation functions without Q and DQ before them. */
  readonly fused: readonly FusedEntry[];
  readonly inFloat: readonly ReasonEntry[];
  /** Bounds on the accumulator sums of the quantized model's layers. */
  readonly accumulators: readonly AccumulatorBound[];
};

/** SQNR in dB; null if nothing is lost. */
export type Decibels = number | null;

export type ActivationEntry = {
  readonly name: string;
  /** Smallest and largest element during calibration. */
  readonly dataRange?: readonly number[];
  readonly elements?: number;
  /** Share of the elements (0 … 1) beyond the range of the integers. */
  readonly saturationShare?: number;
  /** SQNR of this value alone. */
  readonly sqnrDb?: Decibels;
  readonly method: string;
  readonly range: readonly number[];
  /** The value whose parameters are used. */
  readonly sharedWith?: string;
  readonly dtype: QuantizedDType;
  readonly scale: number;
  readonly zeroPoint: number;
  /** Present for a power-of-two scale. */
  readonly position?: number;
};

export type WeightEntry = {
  readonly name: string;
  readonly role: 'weight' | 'activation';
  readonly method: string;
  readonly dtype: QuantizedDType;
  readonly axis?: number;
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  readonly position?: number;
  readonly sqnrDb: Decibels;
  readonly widenedForBias?: true;
};

export type BiasEntry = {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly dtype: Exclude<BiasDType, 'float32'>;
  readonly scale: readonly number[];
  readonly sqnrDb: Decibels;
  /** Number of elements that the type could not hold. */
  readonly saturated?: number;
};

export type ReasonEntry = { readonly node: string; readonly opType: string; readonly reason: string };

/** `between`: the value that is not quantized, or not computed at all. */
export type FusedEntry = { readonly node: string; readonly opType: string; readonly between: string };

const db: JsonReader<Decibels> = (value, path, problems) => (value === null ? null : number()(value, path, problems));

const yes: JsonReader<true> = (value, path, problems) => {
  if (value !== true) problems.push({ path, message: 'should be true' });
  return true;
};

const anything: JsonReader<JsonObject> = (value, path, problems) => {
  if (isJsonObject(value)) return value;
  problems.push({ path, message: 'should be an object' });
  return undefined;
};

const dtype = literal('int8', 'uint8', 'int16', 'uint16');

const reader = fields<QuantizationReport>({
  scheme: anything,
  samples: integer(0),
  counts: anything,
  activations: anyList(
    fields<ActivationEntry>({
      name: text(),
      dataRange: maybe(anyList(number())),
      elements: maybe(integer(0)),
      saturationShare: maybe(number({ min: 0, max: 1 })),
      sqnrDb: maybe(db),
      method: text(),
      range: anyList(number()),
      sharedWith: maybe(text()),
      dtype,
      scale: number({ above: 0 }),
      zeroPoint: number(),
      position: maybe(number()),
    }),
  ),
  weights: anyList(
    fields<WeightEntry>({
      name: text(),
      role: literal('weight', 'activation'),
      method: text(),
      dtype,
      axis: maybe(integer(0)),
      scale: anyList(number({ above: 0 })),
      zeroPoint: anyList(number()),
      position: maybe(number()),
      sqnrDb: db,
      widenedForBias: maybe(yes),
    }),
  ),
  biases: anyList(
    fields<BiasEntry>({
      name: text(),
      nodes: anyList(anyText()),
      dtype: literal('int8', 'int16', 'int32'),
      scale: anyList(number({ above: 0 })),
      sqnrDb: db,
      saturated: maybe(integer(0)),
    }),
  ),
  leftOut: anyList(fields<ReasonEntry & FusedEntry>({ node: anyText(), opType: text(), between: text(), reason: text() })),
  fused: anyList(fields<FusedEntry>({ node: anyText(), opType: text(), between: text() })),
  inFloat: anyList(fields<ReasonEntry>({ node: anyText(), opType: text(), reason: text() })),
  accumulators: anyList(
    fields<AccumulatorBound>({
      node: text(),
      opType: text(),
      bound: maybe(number({ min: 0 })),
      unit: maybe(number({ above: 0 })),
      exactInFloat: flag(),
      reason: maybe(text()),
    }),
  ),
});

/** @throws QuantError `bad-quantization-report`, listing every problem. */
export function parseQuantizationReport(value: Json): QuantizationReport {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new QuantError('bad-quantization-report', `invalid quantization report: ${lines.slice(0, 5).join('; ')}`, {
    details: lines,
    help: 'run `quantize` again with this version to write a new report',
  });
}
