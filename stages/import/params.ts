/** The params of `import`: cut, sizes and operator set. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { NEWEST_OPSET, OLDEST_OPSET } from '../../src/onnx/opset/opset-range.js';
import { FOLD_LIMIT_BYTES } from '../../src/onnx/passes/fold-limit.js';

const SIZE = { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'free' }] } as const;
const NAMES = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true } as const;

export const IMPORT_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    opset: {
      type: 'integer',
      minimum: OLDEST_OPSET,
      maximum: NEWEST_OPSET,
      default: 17,
      description: 'Models with an older ONNX operator set are converted to this one.',
    },
    newer: {
      type: 'string',
      enum: ['keep', 'lower'],
      default: 'keep',
      description:
        'How to treat a model with a newer operator set than `opset`. keep: it does not change. lower: convert it down to `opset`, which must be 17 or more.',
    },
    shapes: {
      type: 'object',
      additionalProperties: { type: 'array', items: SIZE, minItems: 1 },
      default: {},
      description: 'Input → its whole shape, for example [1, 3, 320, 320]; free: a size that stays free.',
    },
    dims: {
      type: 'object',
      additionalProperties: SIZE,
      default: {},
      description: 'Name of a free size → its size, wherever the name occurs; free: it stays free.',
    },
    batch: {
      ...SIZE,
      default: 1,
      description: 'First size of four-dimensional inputs, if it is free and not set otherwise.',
    },
    unbatched: {
      type: 'string',
      enum: ['keep', 'batch'],
      default: 'keep',
      description:
        'What becomes of images without a batch, float32 [3, height, width], as whole detectors of torchvision take them. batch: they get a batch of 1, as the stages that prepare images need it; `shapes` are those of the model.',
    },
    float16: {
      type: 'string',
      enum: ['keep', 'widen'],
      default: 'keep',
      description:
        'What becomes of a model that computes in float16. widen: its values and weights become float32, which calibration and quantization need.',
    },
    cut: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        inputs: { ...NAMES, description: 'Values that become the inputs. Default: the inputs do not change.' },
        outputs: { ...NAMES, description: 'Values that become the outputs. Default: the outputs do not change.' },
      },
      description: 'Values where the imported model begins and ends. Nodes before and after, such as preprocessing, are removed.',
    },
    foldLimitBytes: { type: 'integer', minimum: 0, default: FOLD_LIMIT_BYTES, description: 'Largest constant that folding may create.' },
    samples: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'Number of random inputs on which equality with the original is checked; 0: none.',
    },
    tolerance: {
      type: 'number',
      minimum: 0,
      default: 1e-4,
      description:
        'If nodes were converted or weights of products folded: the largest allowed difference of an output, as a share of its standard deviation. Otherwise every bit must stay.',
    },
  },
} as const;

export type ImportParams = FromSchema<typeof IMPORT_PARAMS>;
