/** Compares the classes that a network gives the pixels of one image with the mask of the image. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { readJsonShape } from '../../src/base/json/json-shape.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import { anyList, anyOf, integer, NULL, object, tuple } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { decodeIndices } from '../../src/detection/image/decode-indices.js';
import { preprocessImage } from '../../src/detection/image/preprocessing.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing-schema.js';
import { findPixelClasses } from '../../src/detection/segmentation/classes-of-pixels.js';
import { countConfusion } from '../../src/detection/segmentation/confusion.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';

/** Settings that all images of a run share. */
export interface MeasureSettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** All other session options that can change results. */
  readonly session: JsonObject;
  readonly input: { readonly name: string; readonly height: number | null; readonly width: number | null };
  readonly output: string;
  readonly preprocess: Preprocessing & JsonObject;
  readonly mask: { readonly first: number; readonly ignore: readonly number[]; readonly values: Readonly<Record<string, number>> | null };
}

const MEASURED_SCHEMA = object({
  of: anyOf([integer(1), NULL], 'Number of classes; null if the network chose them.'),
  counts: anyList(tuple([integer(0), integer(0), integer(0)]), 'Labeled class, predicted class and pixels, in this order.'),
  outside: integer(0, 'Labeled pixels outside of the input.'),
});

export type MeasuredImage = FromSchema<typeof MEASURED_SCHEMA>;

/** @throws DetectionError `pixel-scores`, `mask-decode`, `mask-size`, `mask-class`; as `decodeImage` and `Session.run`. */
export async function measureImage(
  session: Session,
  { image, mask }: { readonly image: string; readonly mask: string },
  { input, output, preprocess, mask: meaning }: MeasureSettings,
): Promise<MeasuredImage> {
  const pixels = await decodeImage(await readFile(image), basename(image));
  const labels = decodeIndices(await readFile(mask), basename(mask));
  const size = { height: input.height ?? undefined, width: input.width ?? undefined };
  const { tensor, placement } = preprocessImage(pixels, size, preprocess);
  const outputs = await session.run({ [input.name]: tensor }, [output]);
  const predicted = findPixelClasses(outputs[output], output, placement);
  const { counts, outside } = countConfusion(labels, predicted, { ...meaning, values: meaning.values ?? undefined }, basename(mask));
  return { of: predicted.of ?? null, counts: [...counts], outside };
}

const reader = readerOf(MEASURED_SCHEMA);

/** Parses the file of a kept part. @throws DetectionError `bad-prediction`. */
export function parseMeasured(value: Json): MeasuredImage {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  throw new DetectionError('bad-prediction', 'a kept prediction is invalid', { help: 'build the stage again with `--force`' });
}
