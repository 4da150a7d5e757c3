/** A Mask R-CNN of torchvision's layouts, a few channels wide, with generated weights, for tests that need no trained one. */
import type { DetectorConfig } from '../../src/detection/families/maskrcnn/config.js';
import type { MaskRcnnSpec } from '../../src/detection/families/maskrcnn/export/network-spec.js';
import { expectedTensors } from '../../src/detection/families/maskrcnn/export/state-keys.js';
import { type MaskIouSpec, maskIouTensors } from '../../src/detection/families/maskscoring/export/mask-iou-head.js';
import type { RawTensor } from '../../src/tensor/tensor.js';
import { generatedState } from './generated-weights.js';

/** maskrcnn_resnet50_fpn_v2: batch norm everywhere but in the RPN head. */
export const TINY_V2: MaskRcnnSpec = {
  stem: 4,
  bodyNorm: 'batch-norm',
  stages: [
    { blocks: 2, width: 2, channels: 8 },
    { blocks: 1, width: 3, channels: 12 },
    { blocks: 1, width: 4, channels: 16 },
    { blocks: 2, width: 5, channels: 20 },
  ],
  pyramid: { channels: 6, norm: 'batch-norm' },
  rpn: { depth: 2, anchorsPerCell: 3 },
  boxHead: { form: 'conv-fc', convs: [6, 5], norm: 'batch-norm', hidden: [10] },
  maskHead: { convs: [6, 7], norm: 'batch-norm', hidden: 4 },
  classes: 4,
};

/** maskrcnn_resnet50_fpn: frozen body, convolutions with biases, two fully connected layers. */
export const TINY_V1: MaskRcnnSpec = {
  ...TINY_V2,
  bodyNorm: 'frozen',
  pyramid: { channels: 6, norm: 'none' },
  rpn: { depth: 1, anchorsPerCell: 3 },
  boxHead: { form: 'two-fc', convs: [], norm: 'none', hidden: [10, 9] },
  maskHead: { convs: [6, 7], norm: 'none', hidden: 4 },
};

export const TINY_CONFIG: DetectorConfig = {
  input: { minSize: 64, maxSize: 96, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], sizeDivisible: 32 },
  anchors: { sizes: [[8], [16], [32], [64], [128]], aspectRatios: [0.5, 1, 2] },
  rpn: { preNmsTopN: 40, postNmsTopN: 20, nmsThreshold: 0.7, scoreThreshold: 0 },
  box: { scoreThreshold: 0.05, nmsThreshold: 0.5, detectionsPerImage: 10, roiSize: 7, samplingRatio: 2, regressionWeights: [10, 10, 5, 5] },
  mask: { roiSize: 14, samplingRatio: 2, threshold: 0.5 },
  numClasses: 4,
  categories: { 1: 'circle', 3: 'square' },
};

/** A state dict with every tensor of `structure`; a frozen body has no num_batches_tracked. */
export function tinyState(structure: MaskRcnnSpec): Map<string, RawTensor> {
  const tensors = expectedTensors(structure, TINY_CONFIG.box.roiSize).filter(
    ({ key, role }) => role !== 'counter' || !isFrozen(structure, key),
  );
  return generatedState(tensors.map(({ key, dims }) => ({ key, shape: dims.map(dim => dim ?? 0) })));
}

function isFrozen(structure: MaskRcnnSpec, key: string): boolean {
  return structure.bodyNorm === 'frozen' && key.startsWith('backbone.body.');
}

export const TINY_MASK_IOU: MaskIouSpec = { convs: [5, 4, 6, 3], hidden: [8, 7] };

/** `TINY_V2` with a MaskIoU head. */
export function tinyScoringState(): Map<string, RawTensor> {
  const head = [...maskIouTensors(TINY_MASK_IOU, TINY_V2, TINY_CONFIG.mask.roiSize)];
  return new Map([...tinyState(TINY_V2), ...generatedState(head.map(({ key, dims }) => ({ key, shape: dims.map(dim => dim ?? 0) })))]);
}
