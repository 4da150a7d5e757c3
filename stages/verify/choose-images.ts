/** Chooses the images for comparing detectors: the first by id, or those with given ids. */
import type { CocoId } from '../../src/detection/coco/coco-id.js';
import { findImageFile, type ListedImage, listImages, takeFirstImages } from '../../src/detection/data/image-list.js';
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
