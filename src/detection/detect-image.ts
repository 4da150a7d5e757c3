/** Opens a detector from the models of its parts, and detects the objects of one image as COCO results. */

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { JsonObject } from '../base/json.js';
import type { SimulateParams } from '../runtime/device/runner-params.js';
import type { OpenModel, SessionOptions } from '../runtime/session/session.js';
import type { CocoId } from './coco/coco-id.js';
import { encodeCocoResults } from './coco/results.js';
import type { Detector } from './detector/detector.js';
import type { DefinitionFiles } from './detector/detector-family.js';
import { makeCocoResults } from './detector/object-results.js';
import { DetectionError } from './error/detection-error.js';
import { decodeImage } from './image/decode-image.js';
import type { ReadImage } from './image/kept-images.js';
import { openDetector } from './open-detector.js';
import { readDefinition } from './read-definition.js';

/** Settings that all images of a run share. */
export interface DetectionSettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** All other session options that can change results. */
  readonly session: JsonObject;
  /** Recipe, config and fit policy: what `DetectorDefinition.files` holds. */
  readonly definition: DefinitionFiles & JsonObject;
  /** The arithmetic of the device that is simulated. */
  readonly simulate?: SimulateParams;
}

/** An image of the annotations. */
export interface AnnotatedImage {
  readonly imageId: CocoId;
  readonly height: number;
  readonly width: number;
}

/** @param parts paths of models by part. @param openModel default: this machine. */
export async function openParts(
  parts: Readonly<Record<string, string>>,
  { optimization, definition }: Pick<DetectionSettings, 'optimization' | 'definition'>,
  openModel?: OpenModel,
): Promise<Detector> {
  const device = openModel === undefined ? {} : { openModel };
  return openDetector({ definition: readDefinition(definition), models: { kind: 'parts', parts } }, { optimization, ...device });
}

/**
 * Returns the text of COCO results. @param read default: decodes the file.
 * @throws DetectionError `image-size`, and as `decodeImage` and `Detector.trace`.
 */
export async function detectInImage(
  detector: Detector,
  path: string,
  { imageId, height, width }: AnnotatedImage,
  read: ReadImage = async file => decodeImage(await readFile(file), basename(file)),
): Promise<string> {
  const image = await read(path);
  if (image.height !== height || image.width !== width) {
    throw new DetectionError(
      'image-size',
      `image ${imageId} has ${image.width}×${image.height} pixels, but the annotations say ${width}×${height}`,
      { help: 'annotations refer to pixels as stored in the file; use the images that they were made for' },
    );
  }
  return encodeCocoResults(makeCocoResults(imageId, (await detector.trace(image)).objects));
}
