/** The part of `evaluate` that detects objects in one image. Its results are kept per image, models and settings. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { CocoId } from '../../src/detection/coco/coco-id.js';
import { type DetectionSettings, detectInImage, openParts } from '../../src/detection/detect-image.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import { openExact } from '../../src/quant/exact/open-exact.js';
import { openSimulated } from '../../src/quant/simulate/open-simulated.js';
import { definePart, type PartJob } from '../../src/stage/context.js';
import { modelsOfRoles } from '../../src/stage/model-roles.js';
import { makeOpenOrReuse, stampFile } from '../../src/stage/reuse-open.js';

export interface ImageDetectionsManifest extends DetectionSettings {
  readonly imageId: CocoId;
  /** Size of the image in the annotations. */
  readonly height: number;
  readonly width: number;
}

/** Output file: COCO results. */
export const DETECTIONS_FILE = 'detections.json';

/** Takes the blob `image`, and those of the part models by `rolesOfModels`. Writes the COCO results of the image. */
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

const reuse = makeOpenOrReuse<Detector>();

async function getDetector({ manifest, blobs }: PartJob<ImageDetectionsManifest>): Promise<Detector> {
  const parts = modelsOfRoles(blobs);
  const stamps = await Promise.all(Object.entries(parts).map(async ([part, path]) => [part, ...(await stampFile(path))]));
  const { optimization, session, definition, simulate = null } = manifest;
  const open = simulate === null ? openExact : openSimulated(simulate, () => undefined);
  return reuse(JSON.stringify([optimization, session, definition, simulate, stamps]), () => openParts(parts, manifest, open));
}
