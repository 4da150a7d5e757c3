/** The stage part that computes the input of a detector's first part for one image. It runs no model. */

import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from '../../src/base/json.js';
import type { DefinitionFiles } from '../../src/detection/detector/detector-family.js';
import { asGiven } from '../../src/detection/detector/part-runner.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { definePart } from '../../src/stage/context.js';
import { encodeNpz } from '../../src/tensor/formats/npz.js';
import { INPUT_FILE } from './sample-file.js';

export interface ImageInputManifest extends JsonObject {
  /** Recipe, config and fit policy: the content of `DetectorDefinition.files`. */
  readonly definition: DefinitionFiles & JsonObject;
}

export const imageInputPart = definePart<ImageInputManifest>({
  name: 'calibrate-image-input',
  version: 2,
  module: import.meta.url,
  runsModels: 'never',
  async run({ manifest, blobs, folder }) {
    const path = blobs.image ?? '';
    const image = await decodeImage(await readFile(path), basename(path));
    await writeFile(join(folder, INPUT_FILE), encodeNpz(asGiven(readDefinition(manifest.definition).prepareInput(image))));
    return [INPUT_FILE];
  },
});
