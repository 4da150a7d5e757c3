/** Chooses the images for comparing detectors, the first by id or those with given ids, and reads them. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CocoId } from '../../src/detection/coco/coco-id.js';
import { findImageFile, type ListedImage, listImages, takeFirstImages } from '../../src/detection/data/image-list.js';
import { decodeImage, type RgbImage } from '../../src/detection/image/decode-image.js';
import { readDataFile } from '../../src/stage/json-file.js';
import { getInputRecord } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { VerifyJob } from './params.js';

export interface ChosenImage {
  readonly id: CocoId;
  readonly path: string;
}

/** @throws StageError `unknown-image`; DetectionError `coco-field`, `coco-file-name`, `no-images`, `too-few-images`, `image-missing`. */
export async function chooseImages({ inputs, params }: VerifyJob): Promise<readonly ChosenImage[]> {
  const { annotations = '', images: folder = '' } = getInputRecord(inputs, 'data');
  const listed = listImages(await readDataFile(annotations));
  const chosen = params.images === undefined ? takeFirstImages(listed, params.samples) : findImages(listed, params.images);
  return Promise.all(chosen.map(async image => ({ id: image.id, path: await findImageFile(folder, image) })));
}

function findImages(listed: readonly ListedImage[], ids: readonly number[]): readonly ListedImage[] {
  const unknown = ids.filter(id => !listed.some(image => image.id === id));
  if (unknown.length > 0) throw new StageError('unknown-image', `the data set has no image ${unknown.join(', ')}`);
  return listed.filter(image => ids.some(id => id === image.id));
}

/** @throws DetectionError as `decodeImage`. */
export async function readImage(path: string): Promise<RgbImage> {
  return decodeImage(await readFile(path), basename(path));
}

/** In messages. */
export function nameImage({ id, path }: ChosenImage): string {
  return `image ${id} (${basename(path)})`;
}
