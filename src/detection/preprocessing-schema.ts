/** How does a stage's `with` declare the preprocessing of images? One schema for every plugin that feeds plain models. */
import type { JsonObject } from '../base/json.js';

const perChannel = (description: string, filled: number, extra: JsonObject = {}): JsonObject => ({
  type: 'array',
  items: { type: 'number', ...extra },
  minItems: 3,
  maxItems: 3,
  default: [filled, filled, filled],
  description,
});

/** Parses to `Preprocessing`. Filters other than torch's bilinear one are not offered, as their results would only resemble those of the libraries named so. */
export const PREPROCESSING_SCHEMA: JsonObject = {
  type: 'object',
  additionalProperties: false,
  description: 'For a model that is no detector of ours, fed with images: how an image becomes its input, float32 [1, 3, H, W].',
  properties: {
    colors: { type: 'string', enum: ['rgb', 'bgr'], default: 'rgb', description: 'Order of the channels.' },
    range: { type: 'string', enum: ['0..1', '0..255'], default: '0..1', description: 'What the bytes 0…255 become before mean and std.' },
    mean: perChannel('Subtracted per channel, in the order of `colors`.', 0),
    std: perChannel('Divided by per channel, in the order of `colors`.', 1, { exclusiveMinimum: 0 }),
    resize: {
      type: 'string',
      enum: ['none', 'stretch', 'crop', 'pad'],
      default: 'none',
      description:
        "How images come to the model's size: none (they have it), stretch, crop (shorter side to `shorterSide`, middle cut out), pad (fitted into the upper left corner). Bilinear, half-pixel centres, no antialias.",
    },
    shorterSide: {
      type: 'integer',
      minimum: 1,
      description: "With resize: crop. The larger of the model's height and width where absent.",
    },
    fill: { type: 'number', minimum: 0, maximum: 255, default: 0, description: 'With resize: pad. The byte value around the image.' },
  },
};
