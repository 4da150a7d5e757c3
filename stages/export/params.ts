/** What can be said to `export`? Architecture, input size, RoI batches, and which defaults are taken. */
import { YOLACT_DEFAULT_NAMES, type YolactDefaults } from '../../src/detection/families/yolact/config-defaults.js';
import type { ParamsSchema } from '../../src/stage/define-stage.js';

export interface ExportParams {
  readonly architecture: 'maskrcnn' | 'maskscoring' | 'yolact';
  /** [1, 3, height, width]. */
  readonly input: readonly number[];
  readonly roiBatch: { readonly box: 'free' | number; readonly mask: 'free' | number; readonly maskIou?: 'free' | number };
  /** Undefined: split. */
  readonly maskInput?: 'split' | 'concat';
  readonly fit: 'static' | 'torchvision';
  /** Undefined: fixed. */
  readonly size?: 'fixed' | 'free';
  readonly defaults?: 'torchvision' | YolactDefaults;
  readonly frozenBatchNormEpsilon?: number;
}

const ROI_BATCH = { anyOf: [{ const: 'free' }, { type: 'integer', minimum: 1 }] } as const;

export const EXPORT_PARAMS: ParamsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['architecture', 'input'],
  properties: {
    architecture: {
      type: 'string',
      enum: ['maskrcnn', 'maskscoring', 'yolact'],
      description:
        "The network's family. maskrcnn: torchvision's maskrcnn_resnet50_fpn_v2 and maskrcnn_resnet50_fpn, of any width and depth. maskscoring: these with a MaskIoU head. yolact: dbolya/yolact with a ResNet or Darknet-53.",
    },
    input: {
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      minItems: 4,
      maxItems: 4,
      description: 'Shape of the network input: [1, 3, height, width].',
    },
    roiBatch: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        box: { ...ROI_BATCH, default: 'free', description: 'RoIs per run of the box head: free, or a fixed number.' },
        mask: { ...ROI_BATCH, default: 'free', description: 'RoIs per run of the mask head: free, or a fixed number.' },
        maskIou: { ...ROI_BATCH, description: 'maskscoring: RoIs per run of the MaskIoU head; free where absent.' },
      },
      description: 'How many RoIs the heads take at once.',
    },
    maskInput: {
      type: 'string',
      enum: ['split', 'concat'],
      description:
        'maskscoring: how the MaskIoU head takes the mask. split, where absent: by a convolution of its own, added to that of the features. concat: as one more channel behind them, as in the original.',
    },
    size: {
      type: 'string',
      enum: ['fixed', 'free'],
      description:
        'maskrcnn, maskscoring: whether height and width of `input` are all that the backbone takes (fixed, where absent), or it takes any multiples of 32 (free): for figures of the float network at the sizes that torchvision gives each image. A device needs fixed ones.',
    },
    fit: {
      type: 'string',
      enum: ['static', 'torchvision'],
      default: 'static',
      description:
        'How images of other sizes are fitted to the input. static: scaled to fit it, then padded. torchvision: by minSize and maxSize, then padded; an image that becomes larger than the input is an error.',
    },
    defaults: {
      type: 'string',
      enum: ['torchvision', ...YOLACT_DEFAULT_NAMES],
      description:
        "Fills what the config leaves out with the values of torchvision's Mask R-CNN, or of the original YOLACT for its published weights; without it the config must be complete.",
    },
    frozenBatchNormEpsilon: {
      type: 'number',
      minimum: 0,
      description:
        "Epsilon of a frozen body's batch norms: 0 for torchvision's COCO_V1 weights, 1e-5 for networks trained with its defaults.",
    },
  },
};

/** What fits together, beyond what each param allows by itself. */
export function checkExportParams({
  architecture,
  input,
  roiBatch,
  maskInput,
  fit,
  size,
  defaults,
  frozenBatchNormEpsilon,
}: ExportParams): string[] {
  const [batch, channels] = input;
  const others = architecture === 'yolact' ? ['torchvision'] : YOLACT_DEFAULT_NAMES;
  return [
    ...(batch === 1 ? [] : [`input[0] is the batch: an NPU runs one image at a time, so it should be 1, it is ${batch}`]),
    ...(channels === 3 ? [] : [`input[1] is the number of colour channels: it should be 3, it is ${channels}`]),
    ...(architecture === 'maskscoring' || roiBatch.maskIou === undefined ? [] : [withoutHead('roiBatch.maskIou', architecture)]),
    ...(architecture === 'maskscoring' || maskInput === undefined ? [] : [withoutHead('maskInput', architecture)]),
    ...(defaults !== undefined && others.some(name => name === defaults)
      ? [`\`defaults\` ${defaults} are no values of architecture ${architecture}`]
      : []),
    ...(architecture === 'yolact'
      ? [
          ...(roiBatch.box === 'free' && roiBatch.mask === 'free'
            ? []
            : ['`roiBatch` is for architectures with RoI heads: yolact has none']),
          ...(size === undefined ? [] : ['`size` is not for yolact: its priors count on one']),
          ...(fit === 'static' ? [] : ['`fit` is not for yolact: it stretches every image to its input']),
          ...(frozenBatchNormEpsilon === undefined ? [] : ['`frozenBatchNormEpsilon` is not for yolact: its norms are trained']),
        ]
      : []),
  ];
}

function withoutHead(param: string, architecture: ExportParams['architecture']): string {
  return `"${param}" is about the MaskIoU head, which architecture ${architecture} does not have`;
}
