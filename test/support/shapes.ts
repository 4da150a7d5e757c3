/** How do tests get the trained Mask R-CNN of the example: its recipe, config, and recorded stages? */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Json } from '../../src/base/json.js';
import type { Detector } from '../../src/detection/detector.js';
import { type OpenOptions, openDetector } from '../../src/detection/open-detector.js';
import { encodeRecipe } from '../../src/detection/recipe.js';
import { readSetup } from '../../src/detection/setup.js';
import { type DetectorConfig, parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { exportMaskRcnn, type MaskRcnnExport } from '../../src/detection/torchvision/export-maskrcnn.js';
import type { FitPolicy } from '../../src/detection/torchvision/recipe.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { readStateDict } from '../../src/tensor/state-dict.js';

/** The project's own copy of the data set and model. */
export const SHAPES_FOLDER = resolve(import.meta.dirname, '../../../examples/shapes');

export async function readShapesConfig(): Promise<DetectorConfig> {
  const text = await readFile(join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json'), 'utf8');
  return parseDetectorConfig(JSON.parse(text) as Json, undefined).config;
}

/** The float detector as one model; close it. */
export async function openShapes(options: ExportOptions & Partial<OpenOptions> & { config?: DetectorConfig } = {}): Promise<Detector> {
  const { model, recipe } = await exportShapes(options);
  const { config, optimization = 'all', openModel, measure } = options;
  const setup = readSetup({ recipe: encodeRecipe(recipe), config: config as unknown as Json });
  return openDetector(
    { setup, models: { kind: 'whole', model: encodeModel(model) } },
    { optimization, ...(openModel && { openModel }), ...(measure && { measure }) },
  );
}

interface ExportOptions {
  readonly height?: number;
  readonly width?: number;
  readonly fit?: FitPolicy;
  readonly roiBatch?: number | 'free';
}

/** The trained detector as `export` builds it, at the data set's size unless another is given. */
export async function exportShapes(options: ExportOptions = {}): Promise<MaskRcnnExport> {
  const { height = 192, width = 256, fit = 'static', roiBatch = 'free' } = options;
  const state = await readStateDict(join(SHAPES_FOLDER, 'models/maskrcnn-shapes.safetensors'));
  return exportMaskRcnn(state, await readShapesConfig(), {
    height,
    width,
    fit,
    roiBatch: { box: roiBatch, mask: roiBatch },
    frozenEpsilon: undefined,
  });
}
