/** Runs a detector on one picture, from the file to run-length encoded masks, and measures every step. */
import { readFile } from 'node:fs/promises';
import { isCodedError } from '../../../base/coded-error.js';
import { systemCode } from '../../../base/system-error.js';
import { type CocoResult, encodeResult } from '../../../detection/coco/results.js';
import type { DetectedObjects, Detector } from '../../../detection/detector/detector.js';
import type { StepTime, Stopwatch } from '../../../detection/detector/measure.js';
import { makeCocoResults } from '../../../detection/detector/object-results.js';
import { DetectionError } from '../../../detection/error/detection-error.js';
import { decodeImage, type RgbImage } from '../../../detection/image/decode-image.js';
import { messageOf } from '../../../engine/model/engine-error.js';
import type { Picture } from './list-pictures.js';

/** A detector with the stopwatch that measures its steps. */
export interface TimedDetector {
  readonly stage: string;
  readonly detector: Detector;
  readonly watch: Stopwatch;
}

export interface FoundInPicture {
  readonly kind: 'found';
  readonly image: RgbImage;
  readonly objects: DetectedObjects;
  readonly results: readonly CocoResult[];
  readonly times: readonly StepTime[];
}

/** An error of this picture only. */
export interface PictureProblem {
  readonly kind: 'problem';
  readonly code: string;
  readonly message: string;
  readonly help: string | undefined;
}

/**
 * Detects objects in the picture, rotated as its EXIF orientation says. Errors of the picture are returned as values.
 * @throws errors of the detector.
 */
export async function detectPicture(
  { detector, watch }: TimedDetector,
  { id, fileName, path }: Picture,
): Promise<FoundInPicture | PictureProblem> {
  const { measure, take } = watch;
  try {
    const image = await measure('decode', async () => decodeImage(await readFile(path), fileName, { orientation: 'upright' }));
    const { objects } = await detector.trace(image);
    const results = measure('paste', () => makeCocoResults(id, objects));
    measure('encode', () => JSON.stringify(results.map(encodeResult)));
    return { kind: 'found', image, objects, results, times: take() };
  } catch (error) {
    take();
    return toProblem(error);
  }
}

/** Error codes that concern one picture. Any other error would occur with every other picture too. */
const PICTURE_CODES: readonly string[] = ['image-decode', 'image-too-large', 'image-mode', 'image-too-narrow', 'input-size'];

function toProblem(error: unknown): PictureProblem {
  if (error instanceof DetectionError && PICTURE_CODES.includes(error.code))
    return { kind: 'problem', code: error.code, message: error.message, help: error.help };
  if (!isCodedError(error) && systemCode(error) !== undefined)
    return { kind: 'problem', code: 'image-unreadable', message: `the file cannot be read: ${messageOf(error)}`, help: undefined };
  throw error;
}
