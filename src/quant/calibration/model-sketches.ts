/** The calibration sketches of one model: one sketch per float32 activation, and the digest of the model that they belong to. */
import type { Digest } from '../../base/digest.js';
import { parseDigest } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import { fields, integer, type JsonReader, list, literal, maybe, text } from '../../base/json-shape.js';
import { encodeOrtObserved, ortObservedReader } from '../ort-compat/ort-codec.js';
import type { OrtObserved } from '../ort-compat/ort-method.js';
import { mergeSketches, type Sketch } from '../sketch/sketch.js';
import { encodeSketch, readSketchJson, sketchReader } from '../sketch/sketch-codec.js';

export interface ModelSketches {
  /** Content digest of the model: structure and weights, without names. */
  readonly model: Digest;
  /** Number of samples in the sketches. */
  readonly samples: number;
  /** By value address (see value-address.ts). */
  readonly values: ReadonlyMap<string, NamedSketch>;
}

export interface NamedSketch {
  /** The value's name during calibration. For messages only. */
  readonly name: string;
  readonly sketch: Sketch;
  /** Present where `calibrate` ran with `compat: ort`. */
  readonly ort?: OrtObserved;
}

/** Values keep the order of the map. */
export function encodeModelSketches(sketches: ModelSketches): JsonObject {
  return {
    format: 'tanren-sketches',
    version: 2,
    model: sketches.model,
    samples: sketches.samples,
    values: [...sketches.values].map(([address, { name, sketch, ort }]) => ({
      address,
      name,
      sketch: encodeSketch(sketch),
      ...(ort === undefined ? {} : { ort: encodeOrtObserved(ort) }),
    })),
  };
}

const digestReader: JsonReader<Digest> = (value, path, problems) => {
  const digest = parseDigest(value);
  if (digest === undefined) problems.push({ path, message: 'should be a SHA-256 digest' });
  return digest;
};

interface EncodedFile {
  readonly format: 'tanren-sketches';
  readonly version: 2;
  readonly model: Digest;
  readonly samples: number;
  readonly values: readonly (NamedSketch & { readonly address: string })[];
}

const fileReader = fields<EncodedFile>({
  format: literal('tanren-sketches'),
  version: literal(2),
  model: digestReader,
  samples: integer(1),
  values: list(
    fields<EncodedFile['values'][number]>({
      address: text(),
      name: text(),
      sketch: sketchReader,
      ort: maybe(ortObservedReader) as JsonReader<OrtObserved>,
    }),
  ),
});

/** @throws QuantError `bad-sketches`, listing every problem. */
export function parseModelSketches(value: Json): ModelSketches {
  const { model, samples, values } = readSketchJson(fileReader, value, 'sketches');
  return { model, samples, values: new Map(values.map(({ address, ...named }) => [address, named])) };
}

/** The sketches of one sample, by value address. */
export type SampleSketches = ReadonlyMap<string, Sketch>;

export function encodeSampleSketches(sketches: SampleSketches): JsonObject {
  // Sorted, because models with equal content may list their nodes in another order.
  const values = [...sketches].sort(([a], [b]) => (a < b ? -1 : 1));
  return { values: values.map(([address, sketch]) => ({ address, sketch: encodeSketch(sketch) })) };
}

interface EncodedSample {
  readonly values: readonly { readonly address: string; readonly sketch: Sketch }[];
}

const sampleReader = fields<EncodedSample>({
  values: list(fields<EncodedSample['values'][number]>({ address: text(), sketch: sketchReader })),
});

/** @throws QuantError `bad-sketches`. */
export function parseSampleSketches(value: Json): SampleSketches {
  const { values } = readSketchJson(sampleReader, value, 'sketches of a sample');
  return new Map(values.map(({ address, sketch }) => [address, sketch]));
}

/** Merges the sketches of a sample into a running total. */
export function addSample(total: Map<string, Sketch>, sample: SampleSketches): void {
  for (const [address, sketch] of sample) {
    const before = total.get(address);
    total.set(address, before === undefined ? sketch : mergeSketches(before, sketch));
  }
}
