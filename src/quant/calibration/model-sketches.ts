/** The calibration sketches of one model: one sketch per float32 activation, and the digest of the model that they belong to. */
import type { Digest } from '../../base/digest.js';
import type { JsonProblem } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { constant, integer, list, object, text } from '../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../base/schema/digest-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { decodeOrtObserved, encodeOrtObserved, ORT_OBSERVED_SCHEMA } from '../ort-compat/ort-codec.js';
import type { OrtObserved } from '../ort-compat/ort-method.js';
import { mergeSketches, type Sketch } from '../sketch/sketch.js';
import { decodeSketch, decodeSketches, encodeSketch, readSketchJson, SKETCH_SCHEMA } from '../sketch/sketch-codec.js';

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

const FILE_SCHEMA = object({
  format: constant('tanren-sketches'),
  version: constant(2),
  model: DIGEST_SCHEMA,
  samples: integer(1),
  values: list(object({ address: text(), name: text(), sketch: SKETCH_SCHEMA }, { ort: ORT_OBSERVED_SCHEMA })),
});

export type EncodedSketches = FromSchema<typeof FILE_SCHEMA>;

/** Values keep the order of the map. */
export function encodeModelSketches(sketches: ModelSketches): EncodedSketches {
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

const fileReader = readerOf(FILE_SCHEMA);

/** The file with its arrays still encoded. @throws QuantError `bad-sketches`, listing every problem. */
export function readModelSketches(value: Json): EncodedSketches {
  return readSketchJson(fileReader, value, 'sketches');
}

/** @throws QuantError `bad-sketches`, listing every problem. */
export function parseModelSketches(value: Json): ModelSketches {
  const { model, samples, values } = readModelSketches(value);
  const decoded = decodeSketches('sketches', problems =>
    values.map(({ address, name, sketch, ort }, index): [string, NamedSketch] => {
      const named = { name, sketch: decodeSketch(sketch, `values[${index}].sketch`, problems) };
      return [address, ort === undefined ? named : { ...named, ort: decodeOrtObserved(ort) }];
    }),
  );
  return { model, samples, values: new Map(decoded) };
}

/** The sketches of one sample, by value address. */
export type SampleSketches = ReadonlyMap<string, Sketch>;

const SAMPLE_SCHEMA = object({ values: list(object({ address: text(), sketch: SKETCH_SCHEMA })) });

export function encodeSampleSketches(sketches: SampleSketches): FromSchema<typeof SAMPLE_SCHEMA> {
  // Sorted, because models with equal content may list their nodes in another order.
  const values = [...sketches].sort(([a], [b]) => (a < b ? -1 : 1));
  return { values: values.map(([address, sketch]) => ({ address, sketch: encodeSketch(sketch) })) };
}

const sampleReader = readerOf(SAMPLE_SCHEMA);

/** @throws QuantError `bad-sketches`. */
export function parseSampleSketches(value: Json): SampleSketches {
  const what = 'sketches of a sample';
  const { values } = readSketchJson(sampleReader, value, what);
  const decode = (problems: JsonProblem[]): [string, Sketch][] =>
    values.map(({ address, sketch }, index) => [address, decodeSketch(sketch, `values[${index}].sketch`, problems)]);
  return new Map(decodeSketches(what, decode));
}

/** Merges the sketches of a sample into a running total. */
export function addSample(total: Map<string, Sketch>, sample: SampleSketches): void {
  for (const [address, sketch] of sample) {
    const before = total.get(address);
    total.set(address, before === undefined ? sketch : mergeSketches(before, sketch));
  }
}
