/** Which config values does a named default supply? Those of torchvision's `maskrcnn_resnet50_fpn_v2`, trained on COCO. */
import { isJsonObject, type JsonObject } from '../../base/json.js';

export type DefaultsName = 'torchvision';

export interface Filled {
  readonly value: JsonObject;
  /** Dotted paths of what was taken from the defaults, in their order. */
  readonly taken: readonly string[];
}

/** Fills the fields that `written` lacks; lists and `categories` are taken whole or not at all. */
export function fillDefaults(written: JsonObject, name: DefaultsName): Filled {
  return fill(written, DEFAULTS[name], '');
}

function fill(written: JsonObject, defaults: JsonObject, path: string): Filled {
  const value: Record<string, JsonObject[string]> = { ...written };
  const taken: string[] = [];
  for (const [name, standard] of Object.entries(defaults)) {
    const at = path === '' ? name : `${path}.${name}`;
    const given = Object.hasOwn(written, name) ? written[name] : undefined;
    if (given === undefined) {
      value[name] = standard;
      taken.push(...(isSection(name, standard) ? Object.keys(standard).map(field => `${at}.${field}`) : [at]));
    } else if (isSection(name, standard) && isJsonObject(given)) {
      const inner = fill(given, standard, at);
      value[name] = inner.value;
      taken.push(...inner.taken);
    }
  }
  return { value, taken };
}

function isSection(name: string, value: JsonObject[string] | undefined): value is JsonObject {
  return name !== 'categories' && isJsonObject(value);
}

/** COCO's 80 categories: their ids, of 1 … 90, are the labels of a network with 91 classes. */
const COCO_CATEGORIES = {
  1: 'person',
  2: 'bicycle',
  3: 'car',
  4: 'motorcycle',
  5: 'airplane',
  6: 'bus',
  7: 'train',
  8: 'truck',
  9: 'boat',
  10: 'traffic light',
  11: 'fire hydrant',
  13: 'stop sign',
  14: 'parking meter',
  15: 'bench',
  16: 'bird',
  17: 'cat',
  18: 'dog',
  19: 'horse',
  20: 'sheep',
  21: 'cow',
  22: 'elephant',
  23: 'bear',
  24: 'zebra',
  25: 'giraffe',
  27: 'backpack',
  28: 'umbrella',
  31: 'handbag',
  32: 'tie',
  33: 'suitcase',
  34: 'frisbee',
  35: 'skis',
  36: 'snowboard',
  37: 'sports ball',
  38: 'kite',
  39: 'baseball bat',
  40: 'baseball glove',
  41: 'skateboard',
  42: 'surfboard',
  43: 'tennis racket',
  44: 'bottle',
  46: 'wine glass',
  47: 'cup',
  48: 'fork',
  49: 'knife',
  50: 'spoon',
  51: 'bowl',
  52: 'banana',
  53: 'apple',
  54: 'sandwich',
  55: 'orange',
  56: 'broccoli',
  57: 'carrot',
  58: 'hot dog',
  59: 'pizza',
  60: 'donut',
  61: 'cake',
  62: 'chair',
  63: 'couch',
  64: 'potted plant',
  65: 'bed',
  67: 'dining table',
  70: 'toilet',
  72: 'tv',
  73: 'laptop',
  74: 'mouse',
  75: 'remote',
  76: 'keyboard',
  77: 'cell phone',
  78: 'microwave',
  79: 'oven',
  80: 'toaster',
  81: 'sink',
  82: 'refrigerator',
  84: 'book',
  85: 'clock',
  86: 'vase',
  87: 'scissors',
  88: 'teddy bear',
  89: 'hair drier',
  90: 'toothbrush',
} as const;

/** @see torchvision.models.detection.MaskRCNN and GeneralizedRCNNTransform: the default arguments at test time. */
const DEFAULTS: Readonly<Record<DefaultsName, JsonObject>> = {
  torchvision: {
    input: { minSize: 800, maxSize: 1333, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], sizeDivisible: 32 },
    anchors: { sizes: [[32], [64], [128], [256], [512]], aspectRatios: [0.5, 1, 2] },
    rpn: { preNmsTopN: 1000, postNmsTopN: 1000, nmsThreshold: 0.7, scoreThreshold: 0 },
    box: {
      scoreThreshold: 0.05,
      nmsThreshold: 0.5,
      detectionsPerImage: 100,
      roiSize: 7,
      samplingRatio: 2,
      regressionWeights: [10, 10, 5, 5],
    },
    mask: { roiSize: 14, samplingRatio: 2, threshold: 0.5 },
    numClasses: 91,
    categories: COCO_CATEGORIES,
  },
};
