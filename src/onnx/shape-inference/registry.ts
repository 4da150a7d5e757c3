/** The table of inference functions by domain and operator. Functions handle differences between opsets themselves. */

import type { InferFunction, InferTable } from './context/node-context.js';
import { CLASSIC } from './operators/classic.js';
import { CONTROL } from './operators/control.js';
import { ELEMENTWISE } from './operators/elementwise.js';
import { GENERATION } from './operators/generation.js';
import { LAYOUT } from './operators/layout.js';
import { LOSSES_AND_TEXT } from './operators/losses-and-text.js';
import { MATRIX } from './operators/matrix.js';
import { QUANTIZATION } from './operators/quantization.js';
import { REDUCTION } from './operators/reduction.js';
import { RESIZE } from './operators/resize.js';
import { SAMPLING } from './operators/sampling.js';
import { SELECTION } from './operators/selection.js';
import { SEQUENCE_MODELS } from './operators/sequence-models.js';
import { SIGNAL } from './operators/signal.js';
import { WINDOW } from './operators/window.js';

const ONNX: InferTable = {
  ...CONTROL,
  ...ELEMENTWISE,
  ...GENERATION,
  ...LAYOUT,
  ...LOSSES_AND_TEXT,
  ...MATRIX,
  ...QUANTIZATION,
  ...REDUCTION,
  ...RESIZE,
  ...SAMPLING,
  ...SELECTION,
  ...SEQUENCE_MODELS,
  ...SIGNAL,
  ...WINDOW,
};

const DOMAINS: Readonly<Record<string, InferTable>> = {
  '': ONNX,
  'ai.onnx.ml': CLASSIC,
  'com.microsoft': { QuantizeLinear: QUANTIZATION.QuantizeLinear, DequantizeLinear: QUANTIZATION.DequantizeLinear } as InferTable,
};

/** The inference function of an operator; undefined if only declared types are available. */
export function findInferFunction(domain: string, opType: string): InferFunction | undefined {
  const table = DOMAINS[domain];
  return table !== undefined && Object.hasOwn(table, opType) ? table[opType] : undefined;
}
