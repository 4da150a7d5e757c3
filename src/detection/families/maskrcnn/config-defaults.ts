/** Named defaults of the detector config: those of torchvision's `maskrcnn_resnet50_fpn_v2`, trained on COCO. */
import type { JsonObject } from '../../../base/json.js';
import { COCO_CATEGORIES } from '../../coco/categories.js';

export type DefaultsName = 'torchvision';

/** @see torchvision.models.detection.MaskRCNN and GeneralizedRCNNTransform: the default arguments at test time. */
export const DEFAULTS: Readonly<Record<DefaultsName, JsonObject>> = {
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
    // The labels are the category ids: the network has 91 classes.
    categories: COCO_CATEGORIES,
  },
};
