/** The trained detectors of the example, Mask R-CNN and Mask Scoring R-CNN, with their recipes and config. */

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Json } from '../../src/base/json.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import type { FitPolicy } from '../../src/detection/detector/detector-family.js';
import { type DetectorConfig, parseDetectorConfig } from '../../src/detection/families/maskrcnn/config.js';
import { exportMaskRcnn, type MaskRcnnExport } from '../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import type { InputSize } from '../../src/detection/families/maskrcnn/recipe.js';
import { exportMaskScoring, type MaskScoringExport } from '../../src/detection/families/maskscoring/export/export-maskscoring.js';
import type { MaskIouForm } from '../../src/detection/families/maskscoring/export/mask-iou-head.js';
import { type OpenOptions, openDetector } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { readStateDict } from '../../src/tensor/formats/state-dict.js';

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
  const definition = readDefinition({ recipe, config: config as unknown as Json });
  return openDetector(
    { definition, models: { kind: 'whole', model: encodeModel(model) } },
    { optimization, ...(openModel && { openModel }), ...(measure && { measure }) },
  );
}

interface ExportOptions {
  readonly height?: number;
  readonly width?: number;
  readonly fit?: FitPolicy;
  readonly size?: InputSize;
  readonly roiBatch?: number | 'free';
  /** Another checkpoint of the same network. */
  readonly checkpoint?: string;
}

/** The trained detector as `export` builds it, at the data set's size unless another is given. */
export async function exportShapes(options: ExportOptions = {}): Promise<MaskRcnnExport> {
  const { height = 192, width = 256, fit = 'static', size = 'fixed', roiBatch = 'free' } = options;
  const state = await readStateDict(options.checkpoint ?? join(SHAPES_FOLDER, 'models/maskrcnn-shapes.safetensors'));
  return exportMaskRcnn(state, await readShapesConfig(), {
    height,
    width,
    fit,
    size,
    roiBatch: { box: roiBatch, mask: roiBatch },
    frozenEpsilon: undefined,
  });
}

export interface ScoringOptions {
  readonly maskInput?: MaskIouForm;
  readonly roiBatch?: number | 'free';
}

/** The same network with a trained MaskIoU head. */
export async function exportScoringShapes({ maskInput = 'split', roiBatch = 'free' }: ScoringOptions = {}): Promise<MaskScoringExport> {
  const state = await readStateDict(join(SHAPES_FOLDER, 'models/maskscoring-shapes.safetensors'));
  return exportMaskScoring(state, await readShapesConfig(), {
    height: 192,
    width: 256,
    fit: 'static',
    roiBatch: { box: roiBatch, mask: roiBatch, maskIou: roiBatch },
    frozenEpsilon: undefined,
    maskInput,
  });
}

/** The float Mask Scoring R-CNN as one model; close it. */
export async function openScoringShapes(options: ScoringOptions & { config?: DetectorConfig } = {}): Promise<Detector> {
  const { model, recipe } = await exportScoringShapes(options);
  const definition = readDefinition({ recipe, config: options.config as unknown as Json });
  return openDetector({ definition, models: { kind: 'whole', model: encodeModel(model) } }, { optimization: 'all' });
}
