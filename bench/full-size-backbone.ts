/**
 * A full-size model without a checkpoint: torchvision's maskrcnn_resnet50_fpn_v2 with generated weights.
 * Includes its simplified backbone at 544×960.
 */

import type { HostRecipe } from '../src/detection/detector/host-recipe.js';
import { parseDetectorConfig } from '../src/detection/families/maskrcnn/config.js';
import { exportMaskRcnn } from '../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import type { MaskRcnnSpec } from '../src/detection/families/maskrcnn/export/network-spec.js';
import { expectedTensors } from '../src/detection/families/maskrcnn/export/state-keys.js';
import type { Model } from '../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../src/onnx/passes/simplify.js';
import { extractSubgraph } from '../src/onnx/surgery/extract.js';
import { evaluate } from '../src/runtime/session/evaluate.js';
import type { Tensor } from '../src/tensor/tensor.js';
import { generatedInput, generatedState } from '../test/support/generated-weights.js';

export const FULL_SIZE = { height: 544, width: 960 } as const;

export const V2: MaskRcnnSpec = {
  stem: 64,
  bodyNorm: 'batch-norm',
  stages: [
    { blocks: 3, width: 64, channels: 256 },
    { blocks: 4, width: 128, channels: 512 },
    { blocks: 6, width: 256, channels: 1024 },
    { blocks: 3, width: 512, channels: 2048 },
  ],
  pyramid: { channels: 256, norm: 'batch-norm' },
  rpn: { depth: 2, anchorsPerCell: 3 },
  boxHead: { form: 'conv-fc', convs: [256, 256, 256, 256], norm: 'batch-norm', hidden: [1024] },
  maskHead: { convs: [256, 256, 256, 256], norm: 'batch-norm', hidden: 256 },
  classes: 91,
};

export async function makeFullSizeBackbone(): Promise<Model> {
  return (await exportFullSize()).backbone;
}

export interface ImageSize {
  readonly height: number;
  readonly width: number;
}

interface FullSizeBackbone {
  readonly backbone: Model;
  /** The host recipe, which states the input of the backbone. */
  readonly recipe: HostRecipe;
}

export async function exportFullSize(size: ImageSize = FULL_SIZE): Promise<FullSizeBackbone> {
  const exported = exportUnsimplified(size);
  await simplifyToFixedPoint(exported.backbone, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  return exported;
}

/** The backbone as `export` and `split` produce it: batch norms are nodes. */
export function exportUnsimplified(size: ImageSize = FULL_SIZE): FullSizeBackbone {
  const { model, recipe } = exportDetector(size);
  return { backbone: extractSubgraph(model, recipe.parts.backbone), recipe };
}

/** Backbone, box head and mask head in one model. */
export function makeFullSizeDetector(): Model {
  return exportDetector(FULL_SIZE).model;
}

function exportDetector(size: ImageSize): ReturnType<typeof exportMaskRcnn> {
  const { config } = parseDetectorConfig(undefined, 'torchvision');
  const keys = expectedTensors(V2, config.box.roiSize).map(({ key, dims }) => ({ key, shape: dims.map(dim => dim ?? 0) }));
  const options = { ...size, roiBatch: { box: 16, mask: 4 }, fit: 'static', frozenEpsilon: undefined } as const;
  return exportMaskRcnn(generatedState(keys), config, options);
}

/** One normalized image of generated pixels, different for every number. */
export function makeFullSizeInput(sample: number): Tensor<'float32'> {
  return generatedInput(`input ${sample}`, [1, 3, FULL_SIZE.height, FULL_SIZE.width], 2);
}
