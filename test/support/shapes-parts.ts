/** How do tests get the float parts of the example's detector, simplified, as files? */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeRecipe } from '../../src/detection/recipe.js';
import { MASKRCNN_PARTS, type MaskRcnnPart, type MaskRcnnRecipe } from '../../src/detection/torchvision/recipe.js';
import { extractSubgraph } from '../../src/onnx/extract.js';
import { simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { evaluate } from '../../src/runtime/evaluate.js';
import { exportShapes, SHAPES_FOLDER } from './shapes.js';

export interface ShapesParts {
  readonly recipe: MaskRcnnRecipe;
  readonly recipePath: string;
  readonly configPath: string;
  /** Paths of the models. */
  readonly parts: Readonly<Record<MaskRcnnPart, string>>;
  readonly calib: Readonly<Record<'annotations' | 'images', string>>;
  readonly val: Readonly<Record<'annotations' | 'images', string>>;
}

/** Exports, splits and simplifies the detector into `folder`. */
export async function writeShapesParts(folder: string): Promise<ShapesParts> {
  const { model, recipe } = await exportShapes();
  const parts: Record<MaskRcnnPart, string> = { backbone: '', box_head: '', mask_head: '' };
  for (const part of MASKRCNN_PARTS) {
    const piece = extractSubgraph(model, recipe.parts[part]);
    await simplifyToFixedPoint(piece, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
    parts[part] = join(folder, `${part}.onnx`);
    await writeModel(parts[part], piece);
  }
  const recipePath = join(folder, 'recipe.json');
  await writeFile(recipePath, JSON.stringify(encodeRecipe(recipe)));
  const data = (split: string) => ({
    annotations: join(SHAPES_FOLDER, `data/instances_${split}.json`),
    images: join(SHAPES_FOLDER, `data/${split}`),
  });
  const configPath = join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json');
  return { recipe, recipePath, configPath, parts, calib: data('calib'), val: data('val') };
}
