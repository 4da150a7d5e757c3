/** Schema of the param `preprocess`, shared by all plugins that run single models on images. */
import { anyOf, list, mapOf, number, oneOf } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { IMAGE_WORDS } from './image-words.js';

const perChannel = (description: string, filled: number, extra: { readonly exclusiveMinimum?: number } = {}) =>
  ({
    type: 'array',
    items: { type: 'number', ...extra },
    minItems: 3,
    maxItems: 3,
    default: [filled, filled, filled],
    description,
  }) as const;

const INPUT_VALUE = anyOf([number(), oneOf(IMAGE_WORDS), list(anyOf([number(), oneOf(IMAGE_WORDS)]))]);

/** The defaults are PyTorch's resize of floats. */
export const PREPROCESSING_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  description: 'How an image becomes the inputs of a single model.',
  properties: {
    colors: {
      type: 'string',
      enum: ['rgb', 'bgr'],
      default: 'rgb',
      description: "Order of the channels. An input of one channel takes gray, which is Pillow's mode L.",
    },
    range: {
      type: 'string',
      enum: ['0..1', '0..255'],
      description:
        'Range to which bytes 0…255 are scaled before mean and std. The default is 0..1, and 0..255 for an input of integers, to which values are rounded.',
    },
    mean: perChannel('Subtracted per channel, in the order of `colors`; gray takes the first.', 0),
    std: perChannel('Divided by per channel, in the order of `colors`; gray takes the first.', 1, { exclusiveMinimum: 0 }),
    resize: {
      type: 'string',
      enum: ['none', 'stretch', 'crop', 'pad', 'shorter'],
      default: 'none',
      description:
        "How images are brought to the model's size. none: they must have it. stretch: the aspect ratio is not kept. crop: shorter side to `shorterSide`, center crop. pad (letterbox): scaled to fit, the rest filled with `fill`. shorter: shorter side to `shorterSide`, longer side at most `longerSide`; for models with free height and width.",
    },
    shorterSide: {
      type: 'integer',
      minimum: 1,
      description: "With resize: crop or shorter. With crop, the default is the larger of the model's height and width.",
    },
    longerSide: { type: 'integer', minimum: 1, description: 'With resize: shorter. Limit of the longer side.' },
    sizes: {
      type: 'string',
      enum: ['down', 'nearest'],
      default: 'down',
      description: 'With crop, pad and shorter: how side · ratio is rounded. nearest: halves to even.',
    },
    place: {
      type: 'string',
      enum: ['corner', 'center'],
      default: 'corner',
      description: 'With resize: pad. Position of the image: upper left corner, or center.',
    },
    fill: {
      oneOf: [
        { type: 'number', minimum: 0, maximum: 255 },
        { type: 'array', items: { type: 'number', minimum: 0, maximum: 255 }, minItems: 3, maxItems: 3 },
      ],
      default: 0,
      description: 'With resize: pad. The byte value around the image, or one per channel in the order of `colors`.',
    },
    filter: {
      type: 'string',
      enum: ['linear', 'cubic', 'area'],
      default: 'linear',
      description:
        "How pixels are resampled. area is OpenCV's INTER_AREA: it averages the source pixels when an image shrinks, and is linear when it grows.",
    },
    antialias: {
      type: 'boolean',
      default: false,
      description: 'Widens the filter when an image shrinks, as Pillow does and PyTorch with `antialias=True`. area always averages.',
    },
    image: {
      type: 'string',
      minLength: 1,
      description: 'Name of the input that takes the image. The default is the first input of an image with 3 channels, or else with 1.',
    },
    layout: {
      type: 'string',
      enum: ['channels-first', 'channels-last'],
      description: 'Order of the axes of the image in the input. The default follows from its sizes, or from the first layers.',
    },
    inputs: mapOf(INPUT_VALUE, {
      description:
        'Values of the other inputs by name: a number, a word such as input-height, or a list of them, which fills the input in its order.',
    }),
    rounding: {
      type: 'string',
      enum: ['none', 'bytes'],
      default: 'none',
      description: 'bytes: resized values are rounded to bytes, as by Pillow and OpenCV. none: PyTorch on floats.',
    },
  },
} as const;

/** Values are those of most model cards: bytes 0…255, and mean and std after scaling to `range`: (x − mean) / std. */
export type Preprocessing = FromSchema<typeof PREPROCESSING_SCHEMA>;
