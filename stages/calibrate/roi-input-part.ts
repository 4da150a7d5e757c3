/** The stage part that computes the inputs of all parts after the first for one image, such as RoI features, with one run of the float detector. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { openParts } from '../../src/detection/detect-image.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import type { DefinitionFiles } from '../../src/detection/detector/detector-family.js';
import { collectPartInputs } from '../../src/detection/detector/part-inputs.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { definePart } from '../../src/stage/context.js';
import { makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import { encodeNpz } from '../../src/tensor/formats/npz.js';
import { roiFile } from './sample-file.js';

export interface RoiInputManifest extends JsonObject {
  /** Recipe, config and fit policy: the content of `DetectorDefinition.files`. */
  readonly definition: DefinitionFiles & JsonObject;
  /** Content digests of the parts, without names. */
  readonly models: Readonly<Record<string, string>>;
  readonly session: JsonObject;
  /** Largest number of RoIs per head; the first ones are used. */
  readonly maxRois: number;
}

export const DETECTOR_SESSION = { optimization: 'all' } as const satisfies SessionOptions;

export const roiInputPart = definePart<RoiInputManifest>({
  name: 'calibrate-roi-inputs',
  version: 2,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const detector = await getDetector(manifest, unkeyed);
    const inputs = await collectPartInputs(detector, getDefined(blobs.image, 'image'), () => manifest.maxRois);
    const inner = detector.parts.slice(1).map(({ name }) => name);
    for (const name of inner) await writeFile(join(folder, roiFile(name)), encodeNpz(getDefined(inputs[name], name)));
    return inner.map(roiFile);
  },
});

const reuse = makeOpenOrReuse<Detector>();

/** The sessions stay open between consecutive images of one detector. */
function getDetector(manifest: RoiInputManifest, parts: Readonly<Record<string, string>>): Promise<Detector> {
  return reuse(digestJson(manifest), () => openParts(parts, { definition: manifest.definition, ...DETECTOR_SESSION }));
}
