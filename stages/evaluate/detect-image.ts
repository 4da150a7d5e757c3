/** What does a detector find in one image? Opened from the files of its parts, on whatever runs them; its detections as COCO results. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import { encodeCocoResults } from '../../src/detection/coco/results.js';
import { DetectionError } from '../../src/detection/detection-error.js';
import { decodeImage } from '../../src/detection/image.js';
import { type FitPolicy, parseRecipe } from '../../src/detection/recipe.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { detectObjects } from '../../src/detection/torchvision/detector.js';
import { makeCocoResults } from '../../src/detection/torchvision/object-results.js';
import { type OpenDetector, openDetector } from '../../src/detection/torchvision/open-detector.js';
import type { OpenModel, SessionOptions } from '../../src/runtime/session.js';
import { readJsonFile } from '../../src/stage/json-file.js';

/** What is the same for all images of a run. */
export interface DetectionSettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** What else of the session can change results. */
  readonly session: JsonObject;
  readonly config: Json;
  /** How the image is fitted to the models' input. */
  readonly fit: FitPolicy;
}

/** An image as the annotations have it. */
export interface AnnotatedImage {
  readonly imageId: number;
  readonly height: number;
  readonly width: number;
}

/** Paths `backbone`, `box_head`, `mask_head`, `recipe`. */
export type DetectorBlobs = Readonly<Record<string, string>>;

export async function openParts(
  blobs: DetectorBlobs,
  { optimization, config, fit }: DetectionSettings,
  open: OpenModel,
): Promise<OpenDetector> {
  const blob = (role: string): string => getDefined(blobs[role], `blob ${role}`);
  return openDetector(
    {
      recipe: parseRecipe(await readJsonFile(blob('recipe'))),
      config: parseDetectorConfig(config, undefined).config,
      models: { kind: 'parts', backbone: blob('backbone'), box_head: blob('box_head'), mask_head: blob('mask_head') },
      fit,
    },
    { optimization },
    open,
  );
}

/** The text of COCO results. @throws DetectionError `image-size`, and those of images and detectors. */
export async function detectInImage(detector: OpenDetector, path: string, { imageId, height, width }: AnnotatedImage): Promise<string> {
  const image = await decodeImage(await readFile(path), basename(path));
  if (image.height !== height || image.width !== width) {
    throw new DetectionError(
      'image-size',
      `image ${imageId} is ${image.width}×${image.height} pixels, the annotations say ${width}×${height}`,
      { help: 'annotations count pixels as they are stored; take the images that they were made for' },
    );
  }
  return encodeCocoResults(makeCocoResults(imageId, await detectObjects(detector, image), detector.config.mask.threshold));
}
