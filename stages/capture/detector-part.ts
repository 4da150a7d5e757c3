/** The part of `capture` that runs a detector on one image and records the inputs and outputs of its parts. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Digest, digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { openParts } from '../../src/detection/detect-image.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import type { DefinitionFiles } from '../../src/detection/detector/detector-family.js';
import { asGiven } from '../../src/detection/detector/part-runner.js';
import { type RoiCap, tracePartTensors } from '../../src/detection/detector/part-tensors.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { definePart } from '../../src/stage/context.js';
import { makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import { writePartFiles } from './part-files.js';

export interface DetectorManifest extends JsonObject {
  /** `files` of the detector definition: host recipe, config and fit policy. */
  readonly definition: DefinitionFiles & JsonObject;
  /** Content digests of the part models, without names. */
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
    const detector = await getDetector(manifest, unkeyed);
    const path = getDefined(blobs.image, 'image');
    const image = await decodeImage(await readFile(path), basename(path));
    const traced = Object.entries(await tracePartTensors(detector, image, manifest.rois));
    return writePartFiles(
      folder,
      Object.fromEntries(traced.map(([name, tensors]) => [name, { ...tensors, inputs: asGiven(tensors.inputs) }])),
    );
  },
});

const reuse = makeOpenOrReuse<Detector>();

/** The sessions stay open while images of the same detector follow one another. */
function getDetector(manifest: DetectorManifest, parts: Readonly<Record<string, string>>): Promise<Detector> {
  return reuse(digestJson(manifest), () => openParts(parts, manifest));
}
