/** Which function infers the outputs of an operator? One table by domain; each function reads the opset itself where versions differ. */

import type { InferFunction, InferTable } from './node-context.js';
import { CLASSIC } from './ops/classic.js';
import { CONTROL } from './ops/control.js';
import { ELEMENTWISE } from './ops/elementwise.js';
import { GENERATION } from './ops/generation.js';
import { LAYOUT } from './ops/layout.js';
import { LOSSES_AND_TEXT } from './ops/losses-and-text.js';
import { MATRIX } from './ops/matrix.js';
import { QUANTIZATION } from './ops/quantization.js';
import { REDUCTION } from './ops/reduction.js';
import { RESIZE } from './ops/resize.js';
import { SAMPLING } from './ops/sampling.js';
import { SELECTION } from './ops/selection.js';
import { SEQUENCE_MODELS } from './ops/sequence-models.js';
import { SIGNAL } from './ops/signal.js';
import { WINDOW } from './ops/window.js';

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

/** The inference function of an operator; undefined where its shapes are not inferred and stated ones are all that is known. */
export function findInferFunction(domain: string, opType: string): InferFunction | undefined {
  const table = DOMAINS[domain];
  return table !== undefined && Object.hasOwn(table, opType) ? table[opType] : undefined;
}
