/** What can be said to `import`? Where the model begins and ends, which sizes it has, and which operator set it should speak. */
import type { Newer } from '../../src/onnx/import-model.js';
import { NEWEST_OPSET, OLDEST_OPSET } from '../../src/onnx/opset/opset-range.js';
import type { PinnedDim } from '../../src/onnx/surgery/pin-shapes.js';
import type { ParamsSchema } from '../../src/stage/define-stage.js';

export interface ImportParams {
  readonly opset: number;
  readonly newer: Newer;
  readonly shapes: Readonly<Record<string, readonly PinnedDim[]>>;
  readonly dims: Readonly<Record<string, PinnedDim>>;
  readonly batch: PinnedDim;
  readonly cut: { readonly inputs?: readonly string[]; readonly outputs?: readonly string[] };
  readonly foldLimitBytes: number;
  readonly samples: number;
  readonly tolerance: number;
}

const SIZE = { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'free' }] } as const;
const NAMES = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true } as const;

export const IMPORT_PARAMS: ParamsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    opset: {
      type: 'integer',
      minimum: OLDEST_OPSET,
      maximum: NEWEST_OPSET,
      default: 17,
      description: 'Models of an older ONNX operator set are raised to this one.',
    },
    newer: {
      type: 'string',
      enum: ['keep', 'lower'],
      default: 'keep',
      description:
        'What becomes of a model with a newer operator set than `opset`. lower: it is brought down to it, which needs 17 or more.',
    },
    shapes: {
      type: 'object',
      additionalProperties: { type: 'array', items: SIZE, minItems: 1 },
      default: {},
      description: 'Input → its whole shape, as [1, 3, 320, 320]; free: a size that stays free.',
    },
    dims: {
      type: 'object',
      additionalProperties: SIZE,
      default: {},
      description: 'Name of a free size → its size, wherever the name stands; free: it stays free.',
    },
    batch: {
      ...SIZE,
      default: 1,
      description: 'First size of four-dimensional inputs where it is free and not given otherwise.',
    },
    cut: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: { inputs: NAMES, outputs: NAMES },
      description: 'Values where the model begins and ends instead: what is before and after, such as preprocessing, is removed.',
    },
    foldLimitBytes: { type: 'integer', minimum: 0, default: 1 << 20, description: 'Largest constant that folding may create.' },
    samples: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'Random inputs on which equality with the original is proved; 0: none.',
    },
    tolerance: {
      type: 'number',
      minimum: 0,
      default: 1e-4,
      description:
        'Where nodes were converted: the largest difference allowed in an output, as a share of its standard deviation. Without, every bit must stay.',
    },
  },
};
