/** YOLACT networks of dbolya/yolact's layouts, a few channels wide, with generated weights, for tests that need no trained one. */
import type { YolactConfig } from '../../src/detection/families/yolact/config.js';
import type { YolactSpec } from '../../src/detection/families/yolact/export/network-spec.js';
import { expectedTensors } from '../../src/detection/families/yolact/export/state-keys.js';
import { decodeRawTensor, encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../src/tensor/tensor.js';
import { generatedState } from './generated-weights.js';

/** yolact_base and yolact_resnet50: four stages of which the last three are used, one head for all levels. */
export const TINY_RESNET: YolactSpec = {
  backbone: {
    kind: 'resnet',
    stem: 4,
    stages: [
      { blocks: 1, width: 2, channels: 8 },
      { blocks: 2, width: 3, channels: 12 },
      { blocks: 1, width: 4, channels: 16 },
      { blocks: 1, width: 5, channels: 20 },
    ],
  },
  pyramid: { channels: 6, laterals: 3, downsampling: 'conv' },
  prototypes: [
    { kind: 'conv', channels: 6, kernel: 3 },
    { kind: 'upsample' },
    { kind: 'conv', channels: 7, kernel: 3 },
    { kind: 'conv', channels: 5, kernel: 1 },
  ],
  heads: [{ features: [6], priorsPerCell: 3, classes: 3, coefficients: 5 }],
};

/** yolact_darknet53: five stages. */
export const TINY_DARKNET: YolactSpec = {
  ...TINY_RESNET,
  backbone: {
    kind: 'darknet',
    stem: 3,
    stages: [
      { blocks: 1, width: 2, channels: 4 },
      { blocks: 2, width: 3, channels: 6 },
      { blocks: 1, width: 4, channels: 8 },
      { blocks: 1, width: 5, channels: 10 },
      { blocks: 1, width: 6, channels: 12 },
    ],
  },
};

export const TINY_LEVELS = 5;

export const TINY_YOLACT_CONFIG: YolactConfig = {
  input: { mean: [123.68, 116.78, 103.94], std: [58.4, 57.12, 57.38] },
  priors: {
    scales: [[8], [16], [32], [48], [64]],
    aspectRatios: [1, 0.5, 2],
    usePixelScales: true,
    preapplySqrt: false,
    useSquareAnchors: true,
    variances: [0.1, 0.2],
  },
  detection: { nms: 'fast', scoreThreshold: 0.05, nmsThreshold: 0.5, topK: 200, maxDetections: 100 },
  mask: { threshold: 0.5 },
  categories: [
    { id: 3, name: 'square' },
    { id: 8, name: 'star' },
  ],
};

/** A state dict with every tensor of `structure`. */
export function tinyYolactState(structure: YolactSpec): Map<string, RawTensor> {
  return generatedState(expectedTensors(structure, TINY_LEVELS).map(({ key, dims }) => ({ key, shape: dims.map(dim => dim ?? 0) })));
}

/** The same of a network with COCO's 80 classes, whose last layers say little: boxes stay near their priors, and many classes pass the threshold. */
export function calmCocoState(structure: YolactSpec): Map<string, RawTensor> {
  const state = tinyYolactState({ ...structure, heads: structure.heads.map(head => ({ ...head, classes: 81 })) });
  for (const [layer, factor] of [
    ['bbox_layer', 0.05],
    ['conf_layer', 0.2],
  ] as const) {
    const key = `prediction_layers.0.${layer}.weight`;
    const raw = state.get(key);
    if (raw?.dtype !== 'float32') throw new Error(`no ${key}`);
    const { data, dims } = decodeRawTensor({ dtype: 'float32', dims: raw.dims, bytes: raw.bytes });
    const scaled = data.map(value => value * factor);
    state.set(key, encodeRawTensor(makeTensor('float32', dims, scaled)));
  }
  return state;
}
