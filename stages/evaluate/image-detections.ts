/** What does a detector find in one image? A part of `evaluate` that is kept on its own: the same models and the same image are never run twice. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import { openExact } from '../../src/quant/exact/open-exact.js';
import { definePart, type PartJob } from '../../src/stage/context.js';
import { type DetectionSettings, detectInImage, openParts } from './detect-image.js';

export interface ImageDetectionsManifest extends DetectionSettings {
  readonly imageId: number;
  /** As the annotations have them. */
  readonly height: number;
  readonly width: number;
}

/** What the blob of a part's model is called: a part may be named `image`. */
export const PART_PREFIX = 'part:';

/** The name of the file that the part writes: COCO results. */
export const DETECTIONS_FILE = 'detections.json';

/** Blobs `image`, and one per part under `PART_PREFIX` and its name; writes COCO results of the one image. */
export const imageDetections = definePart<ImageDetectionsManifest>({
  name: 'image-detections',
  version: 2,
  module: import.meta.url,
  runsModels: 'always',
  run: async job => {
    const results = await detectInImage(await getDetector(job), getDefined(job.blobs.image, 'blob image'), job.manifest);
    await writeFile(join(job.folder, DETECTIONS_FILE), results);
    return [DETECTIONS_FILE];
  },
});

/** The detector of the last call: its sessions stay open while the same files are asked for. */
let opened: { readonly key: string; readonly detector: Detector } | undefined;

async function getDetector({ manifest, blobs }: PartJob<ImageDetectionsManifest>): Promise<Detector> {
  const parts = Object.fromEntries(
    Object.entries(blobs).flatMap(([role, path]) => (role.startsWith(PART_PREFIX) ? [[role.slice(PART_PREFIX.length), path]] : [])),
  ) as Record<string, string>;
  const stamps = await Promise.all(Object.entries(parts).map(async ([part, path]) => [part, ...(await stampOf(path))]));
  const { optimization, session, setup } = manifest;
  const key = JSON.stringify([optimization, session, setup, stamps]);
  if (opened?.key === key) return opened.detector;
  const previous = opened;
  opened = undefined;
  await previous?.detector.close();
  const detector = await openParts(parts, manifest, openExact);
  opened = { key, detector };
  return detector;
}

/** A path alone does not tell that a file is the same as before. */
async function stampOf(path: string): Promise<readonly (string | number)[]> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(path);
  return [path, mtimeMs, ctimeMs, size, ino];
}
