/** What do the parts of a detector take and give for one image? One run of the detector, kept per image, models, recipe, config and platform class. */

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Digest, digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import type { DefinitionFiles } from '../../src/detection/detector/detector-family.js';
import { type RoiCap, tracePartTensors } from '../../src/detection/detector/part-tensors.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { openDetector } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { definePart } from '../../src/stage/context.js';
import { writePartFiles } from './part-files.js';

export interface DetectorManifest extends JsonObject {
  /** Recipe, config and fit policy: what `DetectorDefinition.files` holds. */
  readonly setup: DefinitionFiles & JsonObject;
  /** Content digests of the parts, names left out. */
  readonly models: Readonly<Record<string, Digest>>;
  readonly optimization: SessionOptions['optimization'];
  readonly session: JsonObject;
  readonly rois: { readonly max: number; readonly keep: RoiCap['keep'] };
}

export const detectorPart = definePart<DetectorManifest>({
  name: 'capture-detector',
  version: 2,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const detector = await reuseDetector(manifest, unkeyed);
    const path = getDefined(blobs.image, 'image');
    const image = await decodeImage(await readFile(path), basename(path));
    return writePartFiles(folder, await tracePartTensors(detector, image, manifest.rois));
  },
});

let kept: { readonly key: string; readonly detector: Detector } | undefined;

/** The sessions stay open from one image to the next of the same detector. */
async function reuseDetector(manifest: DetectorManifest, models: Readonly<Record<string, string>>): Promise<Detector> {
  const key = digestJson(manifest);
  if (kept?.key === key) return kept.detector;
  await kept?.detector.close();
  kept = undefined;
  const { setup, optimization } = manifest;
  kept = {
    key,
    detector: await openDetector({ definition: readDefinition(setup), models: { kind: 'parts', parts: models } }, { optimization }),
  };
  return kept.detector;
}
