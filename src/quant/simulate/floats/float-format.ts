/** The number formats of NPUs for models that are not quantized to integers. */

import { roundToBfp16 } from '../../../tensor/numeric/block-float.js';
import { decodeBfloat16Array, encodeBfloat16Array } from '../../../tensor/numeric/half.js';
import type { Shape } from '../../../tensor/shape.js';

export const FLOAT_FORMATS = ['bf16', 'bfp16'] as const;

/** bf16: float32 without its lower 16 bits. bfp16: blocks of eight numbers along axis 1, 8 bits each, with one exponent. */
export type FloatFormat = (typeof FLOAT_FORMATS)[number];

/** The nearest numbers of the format, halves to even. */
export function roundToFormat(values: Float32Array, dims: Shape, format: FloatFormat): Float32Array {
  return format === 'bf16' ? decodeBfloat16Array(encodeBfloat16Array(values)) : roundToBfp16(values, dims);
}
