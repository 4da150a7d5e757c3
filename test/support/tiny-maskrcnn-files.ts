/** The export of the tiny Mask R-CNN as files, as stages read it. */
import { join } from 'node:path';
import { exportMaskRcnn } from '../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { TINY_CONFIG, TINY_V2, tinyState } from './tiny-maskrcnn.js';

/** Writes `whole.onnx` and `recipe.json`, for images of 64×96 and any number of RoIs. @returns their paths. */
export async function writeTinyMaskRcnn(folder: string): Promise<{ readonly model: string; readonly recipe: string }> {
  const { model, recipe } = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, {
    height: 64,
    width: 96,
    roiBatch: { box: 'free', mask: 'free' },
    fit: 'static',
    frozenEpsilon: undefined,
  });
  const paths = { model: join(folder, 'whole.onnx'), recipe: join(folder, 'recipe.json') };
  await writeModel(paths.model, model);
  await writeJsonFile(paths.recipe, recipe);
  return paths;
}
