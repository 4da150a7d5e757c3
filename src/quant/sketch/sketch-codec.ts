/** The JSON form of sketches, in which every number is exact. */
import type { Json, JsonObject } from '../../base/json.js';
import { fields, formatJsonProblems, integer, type JsonReader, list, maybe, number, readJsonShape, text } from '../../base/json-shape.js';
import { QuantError } from '../integers/quant-error.js';
import { decodeCounts, decodeFloats, encodeCounts, encodeFloats } from './counts-codec.js';
import { formatDyadic, parseDyadic } from './exact-sum.js';
import { BITS, type Histogram, OFFSET_BITS, SMALLEST_EXPONENT } from './histogram.js';
import type { Sketch } from './sketch.js';

/** A sketch in JSON. min, max, leastMagnitude and histograms are absent if there is no finite element. */
interface EncodedSketch {
  readonly count: number;
  readonly nan: number;
  readonly infinite: number;
  readonly zeros: number;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly leastMagnitude: number | undefined;
  readonly sum: string;
  readonly sumOfSquares: string;
  readonly histograms: readonly EncodedHistogram[] | undefined;
  readonly channels: { readonly min: string; readonly max: string } | undefined;
}

interface EncodedHistogram {
  readonly exponent: number;
  readonly first: number;
  readonly counts: string;
  /** For the bins that are not empty. */
  readonly offsets: string;
}

export function encodeSketch(sketch: Sketch): JsonObject {
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

function encodeHistogram({ exponent, first, counts, offsets }: Histogram): JsonObject {
  const filled = new Float64Array(counts.length);
  let length = 0;
  for (let bin = 0; bin < counts.length; bin++) if (counts[bin] !== 0) filled[length++] = offsets[bin] as number;
  return { exponent, first, counts: encodeCounts(counts), offsets: encodeCounts(filled.subarray(0, length)) };
}

const histogramReader = fields<EncodedHistogram>({
  exponent: number({ min: SMALLEST_EXPONENT, max: 128 }),
  first: number({ min: -(2 ** BITS), max: 2 ** BITS }),
  counts: text(),
  offsets: text(),
});

const encodedReader = fields<EncodedSketch>({
  count: integer(0),
  nan: integer(0),
  infinite: integer(0),
  zeros: integer(0),
  min: maybe(number()) as JsonReader<number | undefined>,
  max: maybe(number()) as JsonReader<number | undefined>,
  leastMagnitude: maybe(number()) as JsonReader<number | undefined>,
  sum: text(),
  sumOfSquares: text(),
  histograms: maybe(list(histogramReader)) as JsonReader<EncodedSketch['histograms']>,
  channels: maybe(fields<{ min: string; max: string }>({ min: text(), max: text() })) as JsonReader<EncodedSketch['channels']>,
});

/** Reads one sketch inside a larger JSON value. */
export const sketchReader: JsonReader<Sketch> = (value, path, problems) => {
  const encoded = encodedReader(value, path, problems);
  if (encoded === undefined || problems.length > 0) return undefined;
  const { channels } = encoded;
  const histograms = (encoded.histograms ?? []).map(decodeHistogram);
  const finite = encoded.count - encoded.nan - encoded.infinite;
  const counted = histograms.reduce((sum, { counts }) => sum + countAll(counts), 0);
  if (histograms.some(({ exponent }, i) => exponent <= (histograms[i - 1]?.exponent ?? Number.NEGATIVE_INFINITY)))
    problems.push({ path, message: 'expected histograms in order of their exponent' });
  if (counted !== finite) problems.push({ path, message: `the histograms count ${counted} elements, expected ${finite} finite ones` });
  return {
    ...encoded,
    sum: parseDyadic(encoded.sum),
    sumOfSquares: parseDyadic(encoded.sumOfSquares),
    histograms,
    channels: channels === undefined ? undefined : { min: decodeFloats(channels.min), max: decodeFloats(channels.max) },
  };
};

function countAll(counts: Float64Array): number {
  let total = 0;
  for (let bin = 0; bin < counts.length; bin++) total += counts[bin] as number;
  return total;
}

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
    fits &&= offset <= count * (2 ** OFFSET_BITS - 1);
    offsets[bin] = offset;
  }
  if (next !== sums.length || !fits) {
    throw new QuantError('bad-sketches', 'counts and offsets of a histogram do not match', { help: 'run `calibrate` again' });
  }
  return { exponent, first, counts, offsets };
}

/** @throws QuantError `bad-sketches`, listing every problem. */
export function readSketchJson<T>(reader: JsonReader<T>, value: Json, what: string): T {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems).slice(0, 20);
  throw new QuantError('bad-sketches', `${what}: ${lines.join('; ')}`, { details: lines, help: 'run `calibrate` again' });
}
