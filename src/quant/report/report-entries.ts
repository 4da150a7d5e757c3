/** How does the report of `quantize` lie in its file? The shape of every entry, and its reader. */
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
  /** Activation functions that saturation replaces. */
  readonly leftOut: readonly (ReasonEntry & FusedEntry)[];
  /** Activation functions without Q and DQ before them. */
  readonly fused: readonly FusedEntry[];
  readonly inFloat: readonly ReasonEntry[];
  /** Of the quantized model: how large the sums inside its layers can become. */
  readonly accumulators: readonly AccumulatorBound[];
};

/** SQNR in dB; null where nothing is lost. */
export type Decibels = number | null;

export type ActivationEntry = {
  readonly name: string;
  /** Least and greatest element that calibration saw. */
  readonly dataRange?: readonly number[];
  readonly elements?: number;
  /** Share of them (0 … 1) beyond what the integers stand for. */
  readonly saturationShare?: number;
  /** What this value loses by itself. */
  readonly sqnrDb?: Decibels;
  readonly method: string;
  readonly range: readonly number[];
  /** The value whose parameters these are. */
  readonly sharedWith?: string;
  readonly dtype: QuantizedDType;
  readonly scale: number;
  readonly zeroPoint: number;
  /** Of a scale that is a power of two. */
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
  /** Elements that the type could not hold. */
  readonly saturated?: number;
};

export type ReasonEntry = { readonly node: string; readonly opType: string; readonly reason: string };

/** `between`: the value that has no integers, or is not computed at all. */
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

/** @throws QuantError `bad-quantization-report` with every problem. */
export function parseQuantizationReport(value: Json): QuantizationReport {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new QuantError('bad-quantization-report', `the report of a quantization: ${lines.slice(0, 5).join('; ')}`, {
    details: lines,
    help: '`quantize` writes it; run it again with this version',
  });
}
