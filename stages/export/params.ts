/** What can be said to `export`? Architecture, input size, RoI batches, and which defaults are taken. */
import type { ParamsSchema } from '../../src/stage/define-stage.js';

export interface ExportParams {
  readonly architecture: 'maskrcnn' | 'maskscoring';
  /** [1, 3, height, width]. */
  readonly input: readonly number[];
  readonly roiBatch: { readonly box: 'free' | number; readonly mask: 'free' | number; readonly maskIou?: 'free' | number };
  /** Undefined: split. */
  readonly maskInput?: 'split' | 'concat';
  readonly fit: 'static' | 'torchvision';
  readonly defaults?: 'torchvision';
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
      enum: ['maskrcnn', 'maskscoring'],
      description:
        "The network's family. maskrcnn: torchvision's maskrcnn_resnet50_fpn_v2 and maskrcnn_resnet50_fpn, of any width and depth. maskscoring: these with a MaskIoU head.",
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
    fit: {
      type: 'string',
      enum: ['static', 'torchvision'],
      default: 'static',
      description:
        'How images of other sizes are fitted to the input. static: scaled to fit it, then padded. torchvision: by minSize and maxSize, then padded; an image that becomes larger than the input is an error.',
    },
    defaults: {
      type: 'string',
      enum: ['torchvision'],
      description: "Fills what the config leaves out with torchvision's values; without it the config must be complete.",
    },
    frozenBatchNormEpsilon: {
      type: 'number',
      minimum: 0,
      description:
        "Epsilon of a frozen body's batch norms: 0 for torchvision's COCO_V1 weights, 1e-5 for networks trained with its defaults.",
    },
  },
};
