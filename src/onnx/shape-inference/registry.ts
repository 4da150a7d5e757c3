/** Which function infers the outputs of an operator? One table by domain; each function reads the opset itself where versions differ. */

import type { InferFunction, InferTable } from './node-context.js';
import { CONTROL } from './ops/control.js';
import { ELEMENTWISE } from './ops/elementwise.js';
import { GENERATION } from './ops/generation.js';
import { LAYOUT } from './ops/layout.js';
import { MATRIX } from './ops/matrix.js';
import { QUANTIZATION } from './ops/quantization.js';
import { REDUCTION } from './ops/reduction.js';
import { RESIZE } from './ops/resize.js';
import { SELECTION } from './ops/selection.js';
import { WINDOW } from './ops/window.js';

const ONNX: InferTable = {
  ...CONTROL,
  ...ELEMENTWISE,
  ...GENERATION,
  ...LAYOUT,
  ...MATRIX,
  ...QUANTIZATION,
  ...REDUCTION,
  ...RESIZE,
  ...SELECTION,
  ...WINDOW,
};

const DOMAINS: Readonly<Record<string, InferTable>> = {
  '': ONNX,
  'com.microsoft': { QuantizeLinear: QUANTIZATION.QuantizeLinear, DequantizeLinear: QUANTIZATION.DequantizeLinear } as InferTable,
};

/** The inference function of an operator; undefined where its shapes are not inferred and stated ones are all that is known. */
export function findInferFunction(domain: string, opType: string): InferFunction | undefined {
  const table = DOMAINS[domain];
  return table !== undefined && Object.hasOwn(table, opType) ? table[opType] : undefined;
}
