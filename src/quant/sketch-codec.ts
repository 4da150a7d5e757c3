/** How is a sketch written as JSON and read back with every number exact? */
import type { Json, JsonObject } from '../base/json.js';
import { fields, formatJsonProblems, integer, type JsonReader, maybe, number, readJsonShape, text } from '../base/json-shape.js';
import { decodeCounts, encodeCounts } from './counts-codec.js';
import { formatDyadic, parseDyadic } from './exact-sum.js';
import { EMPTY_HISTOGRAM } from './histogram.js';
import { QuantError } from './quant-error.js';
import type { Sketch } from './sketch.js';

/** A sketch in JSON. min, max and histogram are absent where nothing finite was seen. */
interface EncodedSketch {
  readonly count: number;
  readonly nan: number;
  readonly infinite: number;
  readonly zeros: number;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly sum: string;
  readonly sumOfSquares: string;
  readonly histogram: { readonly exponent: number; readonly first: number; readonly counts: string } | undefined;
}

export function encodeSketch(sketch: Sketch): JsonObject {
  const { count, nan, infinite, zeros, min, max, histogram } = sketch;
  const empty = histogram.counts.length === 0;
  return {
    count,
    nan,
    infinite,
    zeros,
    ...(min === undefined || max === undefined ? {} : { min, max }),
    sum: formatDyadic(sketch.sum),
    sumOfSquares: formatDyadic(sketch.sumOfSquares),
    ...(empty ? {} : { histogram: { exponent: histogram.exponent, first: histogram.first, counts: encodeCounts(histogram.counts) } }),
  };
}

const histogramReader = fields<NonNullable<EncodedSketch['histogram']>>({
  exponent: number({ min: -149, max: 128 }),
  first: number({ min: -4096, max: 4096 }),
  counts: text(),
});

const encodedReader = fields<EncodedSketch>({
  count: integer(0),
  nan: integer(0),
  infinite: integer(0),
  zeros: integer(0),
  min: maybe(number()) as JsonReader<number | undefined>,
  max: maybe(number()) as JsonReader<number | undefined>,
  sum: text(),
  sumOfSquares: text(),
  histogram: maybe(histogramReader) as JsonReader<EncodedSketch['histogram']>,
});

/** Reads one sketch inside a larger JSON value. */
export const sketchReader: JsonReader<Sketch> = (value, path, problems) => {
  const encoded = encodedReader(value, path, problems);
  if (encoded === undefined || problems.length > 0) return undefined;
  const { histogram } = encoded;
  return {
    count: encoded.count,
    nan: encoded.nan,
    infinite: encoded.infinite,
    zeros: encoded.zeros,
    min: encoded.min,
    max: encoded.max,
    sum: parseDyadic(encoded.sum),
    sumOfSquares: parseDyadic(encoded.sumOfSquares),
    histogram: histogram === undefined ? EMPTY_HISTOGRAM : { ...histogram, counts: Float64Array.from(decodeCounts(histogram.counts)) },
  };
};

/** @throws QuantError `bad-sketches` with every problem. */
export function readSketchJson<T>(reader: JsonReader<T>, value: Json, what: string): T {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems).slice(0, 20);
  throw new QuantError('bad-sketches', `${what}: ${lines.join('; ')}`, { details: lines, help: 'run `calibrate` again' });
}
