/** What does the backbone see of one image? Kept per image and preprocessing; no model is run. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from '../../src/base/json.js';
import { decodeImage } from '../../src/detection/image.js';
import { parseRecipe } from '../../src/detection/recipe.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { prepareImage } from '../../src/detection/torchvision/detector.js';
import { definePart } from '../../src/stage/context.js';
import { encodeNpz } from '../../src/tensor/npz.js';
import { INPUT_ARRAY, INPUT_FILE } from './sample-file.js';

export interface ImageInputManifest extends JsonObject {
  readonly recipe: JsonObject;
  readonly config: JsonObject;
}

export const imageInputPart = definePart<ImageInputManifest>({
  name: 'calibrate-image-input',
  version: 1,
  module: import.meta.url,
  runsModels: 'never',
  async run({ manifest, blobs, folder }) {
    const recipe = parseRecipe(manifest.recipe);
    const { config } = parseDetectorConfig(manifest.config, undefined);
    const path = blobs.image ?? '';
    const image = await decodeImage(await readFile(path), basename(path));
    const { tensor } = prepareImage({ recipe, config, fit: recipe.image.fit }, image);
    await writeFile(join(folder, INPUT_FILE), encodeNpz({ [INPUT_ARRAY]: tensor }));
    return [INPUT_FILE];
  },
});
