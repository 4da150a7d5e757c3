/** Params of `export`: architecture, input size, RoI batches, named defaults; and which combinations are allowed. */
import { getDefined } from '../../src/base/invariant.js';
import { keysOf } from '../../src/base/keys-of.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import type { ExportedFamily, ExportOption } from '../../src/detection/detector/exported-family.js';
import { EXPORTED_FAMILIES } from '../../src/detection/exported-families.js';

const ROI_BATCH = { anyOf: [{ const: 'free' }, { type: 'integer', minimum: 1 }] } as const;

export const EXPORT_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['architecture', 'input'],
  properties: {
    architecture: {
      type: 'string',
      enum: EXPORTED_FAMILIES.map(({ name }) => name),
      description: `The detector family. ${EXPORTED_FAMILIES.map(({ name, description }) => `${name}: ${description}.`).join(' ')}`,
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
        maskIou: { ...ROI_BATCH, description: 'maskscoring: RoIs per run of the MaskIoU head; default: free.' },
      },
      description: 'RoIs per run of each head.',
    },
    maskInput: {
      type: 'string',
      enum: ['split', 'concat'],
      description:
        'maskscoring: how the MaskIoU head takes the mask. split (the default): a separate convolution, whose result is added to that of the features. concat: one more channel after the features, as in the original.',
    },
    size: {
      type: 'string',
      enum: ['fixed', 'free'],
      description:
        'maskrcnn, maskscoring: fixed (the default): the backbone takes the height and width of `input` only. free: it takes any multiples of 32, to evaluate the float network at the sizes that torchvision gives each image. A device needs fixed.',
    },
    fit: {
      type: 'string',
      enum: ['static', 'torchvision'],
      default: 'static',
      description:
        'How images of other sizes are fitted to the input. static: scaled to fit it, then padded. torchvision: scaled by minSize and maxSize, then padded; an image that becomes larger than the input is an error.',
    },
    defaults: {
      type: 'string',
      enum: [...new Set(EXPORTED_FAMILIES.flatMap(family => family.defaults))],
      description:
        "Fills missing config values with those of torchvision's Mask R-CNN, or of the original YOLACT for its published weights. Without it the config must be complete. The stage reports what it fills.",
    },
    frozenBatchNormEpsilon: {
      type: 'number',
      minimum: 0,
      description:
        "Epsilon of the batch norms of a frozen body, which no checkpoint contains: 0 for torchvision's COCO_V1 weights, 1e-5 for networks trained with its defaults.",
    },
  },
} as const;

export type ExportParams = FromSchema<typeof EXPORT_PARAMS>;

export function getFamily({ architecture }: Pick<ExportParams, 'architecture'>): ExportedFamily {
  return getDefined(
    EXPORTED_FAMILIES.find(({ name }) => name === architecture),
    `the family of architecture ${architecture}`,
  );
}

/** Whether an option differs from its default. */
const IS_SET: Readonly<Record<ExportOption, (params: ExportParams) => boolean>> = {
  roiBatch: ({ roiBatch }) => roiBatch.box !== 'free' || roiBatch.mask !== 'free',
  'roiBatch.maskIou': ({ roiBatch }) => roiBatch.maskIou !== undefined,
  maskInput: ({ maskInput }) => maskInput !== undefined,
  size: ({ size }) => size !== undefined,
  fit: ({ fit }) => fit !== 'static',
  frozenBatchNormEpsilon: ({ frozenBatchNormEpsilon }) => frozenBatchNormEpsilon !== undefined,
};

const OPTIONS = keysOf(IS_SET);

/** Rules that involve several params or a single element, one problem each. */
export function checkExportParams(params: ExportParams): string[] {
  const { input, defaults } = params;
  const family = getFamily(params);
  const [batch, channels] = input;
  return [
    ...(batch === 1 ? [] : [`input[0] is the batch, which should be 1 because an NPU runs one image at a time; it is ${batch}`]),
    ...(channels === 3 ? [] : [`input[1] is the number of color channels, which should be 3; it is ${channels}`]),
    ...(defaults === undefined || family.defaults.includes(defaults)
      ? []
      : [`\`defaults: ${defaults}\` is not for architecture ${family.name}; its defaults are ${family.defaults.join(', ')}`]),
    ...OPTIONS.flatMap(option => {
      const reason = family.unusedOptions[option];
      return reason !== undefined && IS_SET[option](params) ? [`\`${option}\` has no use: architecture ${family.name} ${reason}`] : [];
    }),
  ];
}
