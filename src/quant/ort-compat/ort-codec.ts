/** JSON forms of onnxruntime.quantization's calibration data, and of the bins for its second pass. */
import type { Json, JsonObject } from '../../base/json.js';
import { fields, integer, type JsonReader, list, literal, maybe, number, record, text } from '../../base/json-shape.js';
import { decodeCounts, decodeFloats, encodeCounts, encodeFloats } from '../sketch/counts-codec.js';
import { readSketchJson } from '../sketch/sketch-codec.js';
import type { OrtHistogramOf, OrtObserved } from './ort-method.js';
import type { OrtBinnings, SampleCounts } from './ort-observed.js';

export function encodeOrtObserved({ sampleMin, sampleMax, histograms }: OrtObserved): JsonObject {
  return {
    sampleMin: encodeFloats(sampleMin),
    sampleMax: encodeFloats(sampleMax),
    ...(histograms.length === 0 ? {} : { histograms: histograms.map(({ of, counts }) => ({ of, counts: encodeCounts(counts) })) }),
  };
}

interface EncodedObserved {
  readonly sampleMin: string;
  readonly sampleMax: string;
  readonly histograms: readonly { readonly of: OrtHistogramOf; readonly counts: string }[] | undefined;
}

const histogramReader = fields<{ of: OrtHistogramOf; counts: string }>({ of: literal('magnitudes', 'values'), counts: text() });

const encodedReader = fields<EncodedObserved>({
  sampleMin: text(),
  sampleMax: text(),
  histograms: maybe(list(histogramReader)) as JsonReader<EncodedObserved['histograms']>,
});

/** Reads the output of `encodeOrtObserved` inside a larger JSON value. */
export const ortObservedReader: JsonReader<OrtObserved> = (value, path, problems) => {
  const encoded = encodedReader(value, path, problems);
  if (encoded === undefined || problems.length > 0) return undefined;
  const histograms = (encoded.histograms ?? []).map(({ of, counts }) => ({ of, counts: decodeCounts(counts) }));
  return { sampleMin: decodeFloats(encoded.sampleMin), sampleMax: decodeFloats(encoded.sampleMax), histograms };
};

/** The bins of every value, in the form of the manifest of the part that counts them. */
export function encodeBinnings(binnings: OrtBinnings): JsonObject {
  return Object.fromEntries(
    [...binnings].sort(([a], [b]) => (a < b ? -1 : 1)).map(([address, own]) => [address, own.map(binning => ({ ...binning }))]),
  );
}

const binningReader = fields<{ of: OrtHistogramOf; bins: number; first: number; last: number }>({
  of: literal('magnitudes', 'values'),
  bins: integer(1),
  first: number(),
  last: number(),
});

/** @throws QuantError `bad-sketches`. */
export function parseBinnings(value: Json): OrtBinnings {
  return new Map(
    Object.entries(
      readSketchJson(
        record(list(binningReader), () => undefined),
        value,
        'bins',
      ),
    ),
  );
}

export function encodeSampleCounts(counts: SampleCounts): JsonObject {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([address, own]) => [address, own.map(encodeCounts)]));
}

/** @throws QuantError `bad-sketches`. */
export function parseSampleCounts(value: Json): SampleCounts {
  const read = readSketchJson(
    record(list(text()), () => undefined),
    value,
    'counts of a sample',
  );
  return new Map(Object.entries(read).map(([address, own]) => [address, own.map(decodeCounts)]));
}
