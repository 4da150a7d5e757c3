/** Samples of a single model that takes images: the images of a list, preprocessed as declared, as many at once as the model takes. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { countOf } from '../../base/text/count-of.js';
import type { ModelSample } from '../../runtime/feeds/model-sample.js';
import { decodeImage } from '../image/decode-image.js';
import { batchOf } from '../image/image-form.js';
import type { Preprocessing } from '../image/preprocessing-schema.js';
import { makeBatchFeeds } from './image-feeds.js';
import type { ImageInputs } from './image-inputs-schema.js';
import { findImageFile, type ListedImage } from './image-list.js';

export interface ImageSamples {
  readonly samples: readonly ModelSample[];
  /** How images fill batches, if the model takes several at once. */
  readonly notes: readonly string[];
}

/** While reading a sample: @throws DetectionError as `decodeImage` and `makeBatchFeeds`. */
export function makeImageSamples(
  images: readonly ListedImage[],
  folder: string,
  inputs: ImageInputs,
  preprocessing: Preprocessing,
): ImageSamples {
  const batches = fillBatches(images, batchOf(inputs.image.form));
  const readPixels = async (image: ListedImage) => {
    const path = await findImageFile(folder, image);
    return decodeImage(await readFile(path), basename(path));
  };
  const samples = batches.map((batch): ModelSample => {
    const ends = batch.length === 1 ? batch : [batch[0], batch.at(-1)];
    const names = (nameOf: (image: ListedImage) => string): string => ends.flatMap(image => image && nameOf(image)).join('..');
    return {
      id: names(({ id }) => String(id)),
      source: names(({ fileName }) => fileName),
      read: async () => makeBatchFeeds(await Promise.all(batch.map(readPixels)), inputs, preprocessing),
    };
  });
  return { samples, notes: describeBatches(images.length, batches) };
}

/**
 * Consecutive images, starting over at the first until every image was taken equally often: what is measured on the batches is that of the images, and of nothing
 * that fills up the last batch.
 */
function fillBatches(images: readonly ListedImage[], size: number): readonly (readonly ListedImage[])[] {
  const count = images.length / greatestDivisor(images.length, size);
  return Array.from({ length: count }, (_, batch) =>
    Array.from({ length: size }, (_, place) => images[(batch * size + place) % images.length]).filter(image => image !== undefined),
  );
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

function describeBatches(images: number, batches: readonly (readonly ListedImage[])[]): readonly string[] {
  const size = batches[0]?.length ?? 1;
  if (size === 1) return [];
  const times = (batches.length * size) / images;
  const often = times === 1 ? '' : `, each image ${times} times: a multiple of ${size} images is taken once`;
  return [`the model takes ${size} images at once: ${countOf(images, 'image')} in ${countOf(batches.length, 'run')}${often}`];
}
