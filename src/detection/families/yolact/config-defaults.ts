/** Named defaults of the detector config: those of the published COCO weights, from the original's configuration. */
import type { JsonObject } from '../../../base/json.js';
import { COCO_CATEGORIES } from '../../coco/categories.js';

/** 'yolact': yolact_base and yolact_resnet50, 550 pixels. The other names are those of the original. */
export const YOLACT_DEFAULT_NAMES = ['yolact', 'yolact-darknet53', 'yolact-im400', 'yolact-im700'] as const;
export type YolactDefaults = (typeof YOLACT_DEFAULT_NAMES)[number];

/** ImageNet means and standard deviations for ResNet; DarkNet takes 0…1. */
const RESNET_INPUT = { mean: [123.68, 116.78, 103.94], std: [58.4, 57.12, 57.38] };
const DARKNET_INPUT = { mean: [0, 0, 0], std: [255, 255, 255] };

const BASE_SIDE = 550;
const BASE_SCALES = [24, 48, 96, 192, 384];

/** @see dbolya/yolact data/config.py: yolact_base_config and those copied from it. */
export const YOLACT_DEFAULTS: Readonly<Record<YolactDefaults, JsonObject>> = {
  yolact: makeDefaults(RESNET_INPUT, BASE_SIDE),
  'yolact-darknet53': makeDefaults(DARKNET_INPUT, BASE_SIDE),
  'yolact-im400': makeDefaults(RESNET_INPUT, 400),
  'yolact-im700': makeDefaults(RESNET_INPUT, 700),
};

/** `side` is the side of the training images. Scales are proportional to it, truncated to integers. */
function makeDefaults(input: JsonObject, side: number): JsonObject {
  return {
    input,
    priors: {
      scales: BASE_SCALES.map(scale => [Math.trunc((scale / BASE_SIDE) * side)]),
      aspectRatios: [1, 0.5, 2],
      usePixelScales: true,
      preapplySqrt: false,
      useSquareAnchors: true,
      variances: [0.1, 0.2],
    },
    detection: { nms: 'fast', scoreThreshold: 0.05, nmsThreshold: 0.5, topK: 200, maxDetections: 100 },
    mask: { threshold: 0.5 },
    categories: Object.entries(COCO_CATEGORIES).map(([id, name]) => ({ id: Number(id), name })),
  };
}
