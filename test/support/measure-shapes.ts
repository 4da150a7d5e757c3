/** Average precision of parts of the example's Mask R-CNN, by the stage `evaluate` on all validation images. */
import { readFile } from 'node:fs/promises';
import type { MaskRcnnPart } from '../../src/detection/families/maskrcnn/part-names.js';
import type { Context } from '../../src/stage/context.js';
import { evaluate } from '../../stages/evaluate/stage.js';
import { runStage } from './run-stage.js';
import type { ShapesParts } from './shapes-parts.js';

export interface ShapesMetrics {
  readonly bbox: { readonly AP: number };
  readonly segm: { readonly AP: number };
}

export async function measureShapes(
  { recipePath, configPath, val }: ShapesParts,
  parts: Readonly<Record<MaskRcnnPart, string>>,
  { folder, memo }: { readonly folder: string; readonly memo: Context['memo'] },
): Promise<ShapesMetrics> {
  const inputs = { parts, recipe: recipePath, config: configPath, data: val };
  const { outputs } = await runStage(evaluate, { params: {}, inputs, folder, memo });
  return JSON.parse(await readFile(outputs.metrics ?? '', 'utf8')) as ShapesMetrics;
}
