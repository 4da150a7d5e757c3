/** Samples of a single model that takes images: each image of a list, preprocessed as declared. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ModelSample } from '../../runtime/feeds/model-sample.js';
import { decodeImage } from '../image/decode-image.js';
import type { Preprocessing } from '../image/preprocessing-schema.js';
import { type ImageInputs, makeImageFeeds } from './image-inputs.js';
import { findImageFile, type ListedImage } from './image-list.js';

/** While reading a sample: @throws DetectionError as `decodeImage` and `makeImageFeeds`. */
export function makeImageSamples(
  images: readonly ListedImage[],
  folder: string,
  inputs: ImageInputs,
  preprocessing: Preprocessing,
): readonly ModelSample[] {
  return images.map(image => ({
    id: String(image.id),
    source: image.fileName,
    async read() {
      const path = await findImageFile(folder, image);
      return makeImageFeeds(await decodeImage(await readFile(path), basename(path)), inputs, preprocessing).feeds;
    },
  }));
}
