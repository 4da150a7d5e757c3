/** How does a stage's `with` declare the preprocessing of images? One schema for every plugin that feeds plain models. */
import type { JsonObject } from '../../base/json.js';

const perChannel = (description: string, filled: number, extra: JsonObject = {}): JsonObject => ({
  type: 'array',
  items: { type: 'number', ...extra },
  minItems: 3,
  maxItems: 3,
  default: [filled, filled, filled],
  description,
});

/** Parses to `Preprocessing`. Its defaults are torch's resize of floats. */
export const PREPROCESSING_SCHEMA: JsonObject = {
  type: 'object',
  additionalProperties: false,
  description: 'For a plain model that is fed with images: how an image becomes its input, float32 [1, 3, H, W].',
  properties: {
    colors: { type: 'string', enum: ['rgb', 'bgr'], default: 'rgb', description: 'Order of the channels.' },
    range: { type: 'string', enum: ['0..1', '0..255'], default: '0..1', description: 'What the bytes 0…255 become before mean and std.' },
    mean: perChannel('Subtracted per channel, in the order of `colors`.', 0),
    std: perChannel('Divided by per channel, in the order of `colors`.', 1, { exclusiveMinimum: 0 }),
    resize: {
      type: 'string',
      enum: ['none', 'stretch', 'crop', 'pad', 'shorter'],
      default: 'none',
      description:
        "How images come to the model's size: none (they have it), stretch, crop (shorter side to `shorterSide`, middle cut out), pad (as large as fits, the rest `fill`), shorter (shorter side to `shorterSide`, longer at most `longerSide`, for models of free height and width).",
    },
    shorterSide: {
      type: 'integer',
      minimum: 1,
      description: "With resize: crop or shorter. With crop the larger of the model's height and width where absent.",
    },
    longerSide: { type: 'integer', minimum: 1, description: 'With resize: shorter. The most that the longer side may become.' },
    sizes: {
      type: 'string',
      enum: ['down', 'nearest'],
      default: 'down',
      description: 'With crop, pad and shorter: how side · ratio becomes whole.',
    },
    place: {
      type: 'string',
      enum: ['corner', 'center'],
      default: 'corner',
      description: 'With resize: pad. Upper left corner, or the middle.',
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
      description: "How pixels are resampled. area is OpenCV's INTER_AREA.",
    },
    antialias: {
      type: 'boolean',
      default: false,
      description: 'The filter widens where an image shrinks, as with Pillow. area always averages.',
    },
    rounding: {
      type: 'string',
      enum: ['none', 'bytes'],
      default: 'none',
      description: 'bytes: resized values are rounded to bytes, as Pillow and OpenCV do with images. none: torch on floats.',
    },
  },
};
