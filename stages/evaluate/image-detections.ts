/** What does a detector find in one image? A part of `evaluate` that is kept on its own: the same models and the same image are never run twice. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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
import type { SessionOptions } from '../../src/runtime/session.js';
import { definePart, type PartJob } from '../../src/stage/context.js';
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

export interface ImageDetectionsManifest extends DetectionSettings {
  readonly imageId: number;
  /** As the annotations have them. */
  readonly height: number;
  readonly width: number;
}

/** The name of the file that the part writes: COCO results. */
export const DETECTIONS_FILE = 'detections.json';

/** Blobs `backbone`, `box_head`, `mask_head`, `recipe`, `image`; writes COCO results of the one image. */
export const imageDetections = definePart<ImageDetectionsManifest>({
  name: 'image-detections',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  run: async job => {
    const path = getDefined(job.blobs.image, 'blob image');
    const detector = await getDetector(job);
    const image = await decodeImage(await readFile(path), basename(path));
    const { imageId, height, width } = job.manifest;
    if (image.height !== height || image.width !== width) {
      throw new DetectionError(
        'image-size',
        `image ${imageId} is ${image.width}×${image.height} pixels, the annotations say ${width}×${height}`,
        { help: 'annotations count pixels as they are stored; take the images that they were made for' },
      );
    }
    const results = makeCocoResults(imageId, await detectObjects(detector, image), detector.config.mask.threshold);
    await writeFile(join(job.folder, DETECTIONS_FILE), encodeCocoResults(results));
    return [DETECTIONS_FILE];
  },
});

/** The detector of the last call: its sessions stay open while the same files are asked for. */
let opened: { readonly key: string; readonly detector: OpenDetector } | undefined;

async function getDetector({ manifest, blobs }: PartJob<ImageDetectionsManifest>): Promise<OpenDetector> {
  const blob = (role: string): string => getDefined(blobs[role], `blob ${role}`);
  const stamps = await Promise.all(['backbone', 'box_head', 'mask_head', 'recipe'].map(role => stampOf(blob(role))));
  const { optimization, session, config, fit } = manifest;
  const key = JSON.stringify([optimization, session, config, fit, stamps]);
  if (opened?.key === key) return opened.detector;
  const previous = opened;
  opened = undefined;
  await previous?.detector.close();
  const detector = await openDetector(
    {
      recipe: parseRecipe(await readJsonFile(blob('recipe'))),
      config: parseDetectorConfig(config, undefined).config,
      models: { kind: 'parts', backbone: blob('backbone'), box_head: blob('box_head'), mask_head: blob('mask_head') },
      fit,
    },
    { optimization },
  );
  opened = { key, detector };
  return detector;
}

/** A path alone does not tell that a file is the same as before. */
async function stampOf(path: string): Promise<readonly (string | number)[]> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(path);
  return [path, mtimeMs, ctimeMs, size, ino];
}
