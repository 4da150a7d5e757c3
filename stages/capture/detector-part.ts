/** What do the parts of a detector take and give for one image? One run of the detector, kept per image, models, recipe, config and platform class. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { decodeImage } from '../../src/detection/image.js';
import { type FitPolicy, MASKRCNN_PARTS, parseRecipe } from '../../src/detection/recipe.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { prepareImage } from '../../src/detection/torchvision/detector.js';
import { type OpenDetector, openDetector } from '../../src/detection/torchvision/open-detector.js';
import { type RoiCap, tracePartTensors } from '../../src/detection/torchvision/part-tensors.js';
import type { SessionOptions } from '../../src/runtime/session.js';
import { definePart } from '../../src/stage/context.js';
import { writePartFiles } from './part-files.js';

export interface DetectorManifest extends JsonObject {
  readonly recipe: JsonObject;
  readonly config: JsonObject;
  readonly fit: FitPolicy;
  /** Content digests of the parts, names left out. */
  readonly models: { readonly backbone: string; readonly box_head: string; readonly mask_head: string };
  readonly optimization: SessionOptions['optimization'];
  readonly session: JsonObject;
  readonly rois: { readonly max: number; readonly keep: RoiCap['keep'] };
}

export const detectorPart = definePart<DetectorManifest>({
  name: 'capture-detector',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const detector = await reuseDetector(manifest, unkeyed);
    const path = getDefined(blobs.image, 'image');
    const image = prepareImage(detector, await decodeImage(await readFile(path), basename(path)));
    const tensors = await tracePartTensors(detector, image, manifest.rois);
    const parts = MASKRCNN_PARTS.map(part => {
      const { input, outputs, seen } = tensors[part];
      return [part, { inputs: { [detector.recipe.parts[part].inputs[0] ?? '']: input }, outputs, seen }] as const;
    });
    return writePartFiles(folder, Object.fromEntries(parts));
  },
});

let kept: { readonly key: string; readonly detector: OpenDetector } | undefined;

/** The sessions stay open from one image to the next of the same detector. */
async function reuseDetector(manifest: DetectorManifest, models: Readonly<Record<string, string>>): Promise<OpenDetector> {
  const key = digestJson(manifest);
  if (kept?.key === key) return kept.detector;
  await kept?.detector.close();
  kept = undefined;
  const { backbone = '', box_head = '', mask_head = '' } = models;
  const { recipe, config, fit, optimization } = manifest;
  const files = {
    recipe: parseRecipe(recipe),
    config: parseDetectorConfig(config, undefined).config,
    fit,
    models: { kind: 'parts', backbone, box_head, mask_head },
  } as const;
  kept = { key, detector: await openDetector(files, { optimization }) };
  return kept.detector;
}
