/** The float parts of the example's detectors, simplified, as files. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostRecipe } from '../../src/detection/detector/host-recipe.js';
import type { PartValues } from '../../src/detection/detector/part-values.js';
import { MASKRCNN_PARTS, type MaskRcnnPart } from '../../src/detection/families/maskrcnn/part-names.js';
import type { MaskRcnnRecipe } from '../../src/detection/families/maskrcnn/recipe.js';
import { MASKSCORING_PARTS, type MaskScoringPart } from '../../src/detection/families/maskscoring/part-names.js';
import type { MaskScoringRecipe } from '../../src/detection/families/maskscoring/recipe.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import { exportScoringShapes, exportShapes, type ScoringOptions, SHAPES_FOLDER } from './shapes.js';

export interface WrittenParts<P extends string, R extends { readonly parts: Readonly<Record<P, PartValues>> }> {
  readonly recipe: R;
  readonly recipePath: string;
  readonly configPath: string;
  /** Paths of the models. */
  readonly parts: Readonly<Record<P, string>>;
  readonly calib: Readonly<Record<'annotations' | 'images', string>>;
  readonly val: Readonly<Record<'annotations' | 'images', string>>;
}

export type ShapesParts = WrittenParts<MaskRcnnPart, MaskRcnnRecipe>;
export type ScoringParts = WrittenParts<MaskScoringPart, MaskScoringRecipe>;

/** Exports, splits and simplifies the Mask R-CNN into `folder`; `checkpoint`: another one of the same network. */
export async function writeShapesParts(folder: string, checkpoint?: string): Promise<ShapesParts> {
  return writeParts(folder, MASKRCNN_PARTS, await exportShapes(checkpoint === undefined ? {} : { checkpoint }));
}

/** The same of the Mask Scoring R-CNN. */
export async function writeScoringParts(folder: string, options: ScoringOptions = {}): Promise<ScoringParts> {
  return writeParts(folder, MASKSCORING_PARTS, await exportScoringShapes(options));
}

async function writeParts<P extends string, R extends HostRecipe & { readonly parts: Readonly<Record<P, PartValues>> }>(
  folder: string,
  names: readonly P[],
  { model, recipe }: { readonly model: Model; readonly recipe: R },
): Promise<WrittenParts<P, R>> {
  const written: [P, string][] = [];
  for (const part of names) {
    const piece = extractSubgraph(model, recipe.parts[part]);
    await simplifyToFixedPoint(piece, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
    const path = join(folder, `${part}.onnx`);
    await writeModel(path, piece);
    written.push([part, path]);
  }
  const parts = Object.fromEntries(written) as Record<P, string>;
  const recipePath = join(folder, 'recipe.json');
  await writeFile(recipePath, JSON.stringify(recipe));
  const data = (split: string) => ({
    annotations: join(SHAPES_FOLDER, `data/instances_${split}.json`),
    images: join(SHAPES_FOLDER, `data/${split}`),
  });
  const configPath = join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json');
  return { recipe, recipePath, configPath, parts, calib: data('calib'), val: data('val') };
}
