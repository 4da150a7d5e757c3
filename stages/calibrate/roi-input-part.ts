/** What do the heads see of one image? RoI features that the float detector gives: one run of the detector, kept for both heads. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { parseRecipe } from '../../src/detection/recipe.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { type OpenDetector, openDetector } from '../../src/detection/torchvision/open-detector.js';
import { collectPartInputs } from '../../src/detection/torchvision/part-inputs.js';
import type { SessionOptions } from '../../src/runtime/session.js';
import { definePart } from '../../src/stage/context.js';
import { encodeNpz } from '../../src/tensor/npz.js';
import { INPUT_ARRAY, roiFile } from './sample-file.js';

export interface RoiInputManifest extends JsonObject {
  readonly recipe: JsonObject;
  readonly config: JsonObject;
  /** Content digests of the parts, names left out. */
  readonly models: { readonly backbone: string; readonly box_head: string; readonly mask_head: string };
  readonly session: JsonObject;
  /** The first so many RoIs of each head. */
  readonly maxRois: number;
}

export const DETECTOR_SESSION: SessionOptions = { optimization: 'all' };

export const roiInputPart = definePart<RoiInputManifest>({
  name: 'calibrate-roi-inputs',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const detector = await reuseDetector(manifest, unkeyed);
    const inputs = await collectPartInputs(detector, getDefined(blobs.image, 'image'), { box: manifest.maxRois, mask: manifest.maxRois });
    for (const part of ['box_head', 'mask_head'] as const) {
      await writeFile(join(folder, roiFile(part)), encodeNpz({ [INPUT_ARRAY]: inputs[part] }));
    }
    return [roiFile('box_head'), roiFile('mask_head')];
  },
});

let kept: { readonly key: string; readonly detector: OpenDetector } | undefined;

/** The sessions stay open from one image to the next of the same detector. */
async function reuseDetector(manifest: RoiInputManifest, models: Readonly<Record<string, string>>): Promise<OpenDetector> {
  const key = digestJson(manifest);
  if (kept?.key === key) return kept.detector;
  await kept?.detector.close();
  kept = undefined;
  const detector = await openDetector(
    {
      recipe: parseRecipe(manifest.recipe),
      config: parseDetectorConfig(manifest.config, undefined).config,
      models: {
        kind: 'parts',
        backbone: getDefined(models.backbone, 'backbone'),
        box_head: getDefined(models.box_head, 'box_head'),
        mask_head: getDefined(models.mask_head, 'mask_head'),
      },
    },
    DETECTOR_SESSION,
  );
  kept = { key, detector };
  return detector;
}
