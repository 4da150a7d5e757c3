/** The detector of the example as files for plugin tests, whole and in parts. */

import { join } from 'node:path';
import type { Model } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { exportShapes, SHAPES_FOLDER } from './shapes.js';

export interface ShapesFiles {
  readonly whole: string;
  readonly parts: Readonly<Record<'backbone' | 'box_head' | 'mask_head', string>>;
  readonly recipe: string;
  readonly config: string;
  readonly val: { readonly annotations: string; readonly images: string };
  /** The backbone, for tests that damage a copy of it. */
  readonly backbone: Model;
}

/** Writes them into `folder`. */
export async function writeShapes(folder: string): Promise<ShapesFiles> {
  const { model, recipe } = await exportShapes();
  const at = (name: string): string => join(folder, name);
  await writeModel(at('whole.onnx'), model);
  await writeJsonFile(at('recipe.json'), recipe);
  const backbone = extractSubgraph(model, recipe.parts.backbone);
  await writeModel(at('backbone.onnx'), backbone);
  await writeModel(at('box_head.onnx'), extractSubgraph(model, recipe.parts.box_head));
  await writeModel(at('mask_head.onnx'), extractSubgraph(model, recipe.parts.mask_head));
  return {
    whole: at('whole.onnx'),
    parts: { backbone: at('backbone.onnx'), box_head: at('box_head.onnx'), mask_head: at('mask_head.onnx') },
    recipe: at('recipe.json'),
    config: join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json'),
    val: { annotations: join(SHAPES_FOLDER, 'data/instances_val.json'), images: join(SHAPES_FOLDER, 'data/val') },
    backbone,
  };
}
