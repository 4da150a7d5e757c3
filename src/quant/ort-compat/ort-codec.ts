/** JSON forms of onnxruntime.quantization's calibration data, and of the bins for its second pass. */
import type { Json } from '../../base/json.js';
import { integer, list, mapOf, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { decodeCounts, decodeFloats, encodeCounts, encodeFloats } from '../sketch/counts-codec.js';
import { readSketchJson } from '../sketch/sketch-codec.js';
import { ORT_HISTOGRAMS, type OrtObserved } from './ort-method.js';
import type { OrtBinnings, SampleCounts } from './ort-observed.js';

const HISTOGRAM_OF = oneOf(ORT_HISTOGRAMS);

export const ORT_OBSERVED_SCHEMA = object(
  { sampleMin: text(), sampleMax: text() },
  { histograms: list(object({ of: HISTOGRAM_OF, counts: text() })) },
);

export type EncodedObserved = FromSchema<typeof ORT_OBSERVED_SCHEMA>;

export function encodeOrtObserved({ sampleMin, sampleMax, histograms }: OrtObserved): EncodedObserved {
  return {
    sampleMin: encodeFloats(sampleMin),
    sampleMax: encodeFloats(sampleMax),
    ...(histograms.length === 0 ? {} : { histograms: histograms.map(({ of, counts }) => ({ of, counts: encodeCounts(counts) })) }),
  };
}

export function decodeOrtObserved({ sampleMin, sampleMax, histograms = [] }: EncodedObserved): OrtObserved {
  return {
    sampleMin: decodeFloats(sampleMin),
    sampleMax: decodeFloats(sampleMax),
    histograms: histograms.map(({ of, counts }) => ({ of, counts: decodeCounts(counts) })),
  };
}

const BINNINGS_SCHEMA = mapOf(list(object({ of: HISTOGRAM_OF, bins: integer(1), first: number(), last: number() })));
const SAMPLE_COUNTS_SCHEMA = mapOf(list(text()));

const binningsReader = readerOf(BINNINGS_SCHEMA);
const sampleCountsReader = readerOf(SAMPLE_COUNTS_SCHEMA);

/** The bins of every value, in the form of the manifest of the part that counts them. */
export function encodeBinnings(binnings: OrtBinnings): FromSchema<typeof BINNINGS_SCHEMA> {
  return Object.fromEntries(
    [...binnings].sort(([a], [b]) => (a < b ? -1 : 1)).map(([address, own]) => [address, own.map(binning => ({ ...binning }))]),
  );
}

/** @throws QuantError `bad-sketches`. */
export function parseBinnings(value: Json): OrtBinnings {
  return new Map(Object.entries(readSketchJson(binningsReader, value, 'bins')));
}

export function encodeSampleCounts(counts: SampleCounts): FromSchema<typeof SAMPLE_COUNTS_SCHEMA> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([address, own]) => [address, own.map(encodeCounts)]));
}

/** @throws QuantError `bad-sketches`. */
export function parseSampleCounts(value: Json): SampleCounts {
  const read = readSketchJson(sampleCountsReader, value, 'counts of a sample');
  return new Map(Object.entries(read).map(([address, own]) => [address, own.map(decodeCounts)]));
}
