/** The JSON form of sketches, in which every number is exact. */

import { formatJsonProblems, type JsonProblem, type JsonReader, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { integer, list, number, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { QuantError } from '../integers/quant-error.js';
import { decodeCounts, decodeFloats, encodeCounts, encodeFloats } from './counts-codec.js';
import { formatDyadic, parseDyadic } from './exact-sum.js';
import { BITS, type Histogram, OFFSET_BITS, SMALLEST_EXPONENT } from './histogram.js';
import type { Sketch } from './sketch.js';

const HISTOGRAM_SCHEMA = object({
  exponent: number({ minimum: SMALLEST_EXPONENT, maximum: 128 }),
  first: number({ minimum: -(2 ** BITS), maximum: 2 ** BITS }),
  counts: text(),
  offsets: text('For the bins that are not empty.'),
});

type EncodedHistogram = FromSchema<typeof HISTOGRAM_SCHEMA>;

/** A sketch in JSON. min, max, leastMagnitude and histograms are absent if there is no finite element. */
export const SKETCH_SCHEMA = object(
  { count: integer(0), nan: integer(0), infinite: integer(0), zeros: integer(0), sum: text(), sumOfSquares: text() },
  {
    min: number(),
    max: number(),
    leastMagnitude: number(),
    histograms: list(HISTOGRAM_SCHEMA),
    channels: object({ min: text(), max: text() }),
  },
);

export type EncodedSketch = FromSchema<typeof SKETCH_SCHEMA>;

export function encodeSketch(sketch: Sketch): EncodedSketch {
  const { count, nan, infinite, zeros, min, max, leastMagnitude, channels } = sketch;
  return {
    count,
    nan,
    infinite,
    zeros,
    ...(min === undefined || max === undefined || leastMagnitude === undefined ? {} : { min, max, leastMagnitude }),
    sum: formatDyadic(sketch.sum),
    sumOfSquares: formatDyadic(sketch.sumOfSquares),
    ...(sketch.histograms.length === 0 ? {} : { histograms: sketch.histograms.map(encodeHistogram) }),
    ...(channels === undefined ? {} : { channels: { min: encodeFloats(channels.min), max: encodeFloats(channels.max) } }),
  };
}

function encodeHistogram({ exponent, first, counts, offsets }: Histogram): EncodedHistogram {
  const filled = new Float64Array(counts.length);
  let length = 0;
  for (let bin = 0; bin < counts.length; bin++) if (counts[bin] !== 0) filled[length++] = offsets[bin] as number;
  return { exponent, first, counts: encodeCounts(counts), offsets: encodeCounts(filled.subarray(0, length)) };
}

/** Decodes a sketch at `path` of a larger JSON value. What the schema cannot express is added to `problems`. */
export function decodeSketch(encoded: EncodedSketch, path: string, problems: JsonProblem[]): Sketch {
  const { count, nan, infinite, zeros, min, max, leastMagnitude, channels } = encoded;
  const histograms = (encoded.histograms ?? []).map(decodeHistogram);
  const finite = count - nan - infinite;
  const counted = histograms.reduce((sum, { counts }) => sum + countAll(counts), 0);
  if (histograms.some(({ exponent }, i) => exponent <= (histograms[i - 1]?.exponent ?? Number.NEGATIVE_INFINITY)))
    problems.push({ path, message: 'expected histograms in order of their exponent' });
  if (counted !== finite) problems.push({ path, message: `the histograms count ${counted} elements, expected ${finite} finite ones` });
  return {
    count,
    nan,
    infinite,
    zeros,
    min,
    max,
    leastMagnitude,
    sum: parseDyadic(encoded.sum),
    sumOfSquares: parseDyadic(encoded.sumOfSquares),
    histograms,
    channels: channels === undefined ? undefined : { min: decodeFloats(channels.min), max: decodeFloats(channels.max) },
  };
}

function countAll(counts: Float64Array): number {
  let total = 0;
  for (let bin = 0; bin < counts.length; bin++) total += counts[bin] as number;
  return total;
}

/** Of one element. */
const LARGEST_OFFSET = 2 ** OFFSET_BITS - 1;

function decodeHistogram({ exponent, first, counts: encodedCounts, offsets: encodedOffsets }: EncodedHistogram): Histogram {
  const counts = decodeCounts(encodedCounts);
  const sums = decodeCounts(encodedOffsets);
  const offsets = new Float64Array(counts.length);
  let next = 0;
  let fits = counts.length <= 2 ** (BITS + 1) + 1;
  for (let bin = 0; bin < counts.length; bin++) {
    const count = counts[bin] as number;
    if (count === 0) continue;
    const offset = sums[next++] ?? Number.POSITIVE_INFINITY;
    fits &&= offset <= count * LARGEST_OFFSET;
    offsets[bin] = offset;
  }
  if (next !== sums.length || !fits) {
    throw new QuantError('bad-sketches', 'counts and offsets of a histogram do not match', { help: 'run `calibrate` again' });
  }
  return { exponent, first, counts, offsets };
}

/** Reads `value` as calibration data. @throws QuantError `bad-sketches`, listing every problem. */
export function readSketchJson<T>(reader: JsonReader<T>, value: Json, what: string): T {
  const read = readJsonShape(reader, value);
  if (read.kind === 'problems') throw badSketches(what, read.problems);
  return read.value;
}

/** Decodes what `decode` finds in it. @throws QuantError `bad-sketches`, listing every problem that `decode` adds. */
export function decodeSketches<T>(what: string, decode: (problems: JsonProblem[]) => T): T {
  const problems: JsonProblem[] = [];
  const decoded = decode(problems);
  if (problems.length > 0) throw badSketches(what, problems);
  return decoded;
}

function badSketches(what: string, problems: readonly JsonProblem[]): QuantError {
  const lines = formatJsonProblems(problems).slice(0, 20);
  return new QuantError('bad-sketches', `${what}: ${lines.join('; ')}`, { details: lines, help: 'run `calibrate` again' });
}
