/** What does a detector find in one picture, and how long does each step take? From the file to run lengths, every step measured. */
import { readFile } from 'node:fs/promises';
import { isCodedError } from '../../base/coded-error.js';
import { type CocoResult, encodeResult } from '../../detection/coco/results.js';
import type { DetectedObjects, Detector } from '../../detection/detector/detector.js';
import type { StepTime, Stopwatch } from '../../detection/detector/measure.js';
import { makeCocoResults } from '../../detection/detector/object-results.js';
import { DetectionError } from '../../detection/error/detection-error.js';
import { decodeImage, type RgbImage } from '../../detection/image/decode-image.js';
import { messageOf, systemCode } from '../../engine/model/engine-error.js';
import type { Picture } from './list-pictures.js';

/** A detector whose steps its watch measures. */
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

/** Something is wrong with this picture alone. */
export interface PictureProblem {
  readonly kind: 'problem';
  readonly code: string;
  readonly message: string;
  readonly help: string | undefined;
}

/** Turned as EXIF says. @throws what is wrong with the detector; problems of the picture are values. */
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

/** What a picture can be. Anything else would go wrong with every other picture too. */
const PICTURE_CODES: readonly string[] = ['image-decode', 'image-too-large', 'image-mode', 'image-too-narrow', 'input-size'];

function toProblem(error: unknown): PictureProblem {
  if (error instanceof DetectionError && PICTURE_CODES.includes(error.code))
    return { kind: 'problem', code: error.code, message: error.message, help: error.help };
  if (!isCodedError(error) && systemCode(error) !== undefined)
    return { kind: 'problem', code: 'image-unreadable', message: `the file cannot be read: ${messageOf(error)}`, help: undefined };
  throw error;
}
