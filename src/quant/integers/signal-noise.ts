/** Signal and quantization noise of arrays of numbers. Long arrays are measured by the WebAssembly kernel. */
import type { QParams } from './qparams.js';
import { MEASURE_GROUP, measureGroups, type SignalAndNoise } from './quantize-kernel.js';
import type { IntegerRange } from './quantized-dtype.js';
import { saturate } from './rounding.js';

const { fround } = Math;
/** For fewer elements, copying to the kernel costs more than it saves. */
export const KERNEL_MIN_ELEMENTS = 64;

/** Σ x² and Σ (x − dequantized x)² over finite elements. `integers` are the integers that may be used. */
export function measureSignalAndNoise(x: Float32Array, qparams: QParams, integers: IntegerRange): SignalAndNoise {
  const whole = x.length < KERNEL_MIN_ELEMENTS ? 0 : x.length - (x.length % MEASURE_GROUP);
  return addPlainly(measureGroups(x.subarray(0, whole), qparams, integers), x, whole, qparams, integers);
}

/** `sum` and the elements of `x` from `start` on. */
export function addPlainly(
  sum: SignalAndNoise,
  x: Float32Array,
  start: number,
  { scale, zeroPoint }: QParams,
  integers: IntegerRange,
): SignalAndNoise {
  let { signal, noise } = sum;
  for (let i = start; i < x.length; i++) {
    const value = x[i] as number;
    const step = saturate(fround(value / scale), integers.low - zeroPoint, integers.high - zeroPoint);
    const difference = value - fround(step * scale);
    signal += value * value;
    noise += difference * difference;
  }
  return { signal, noise };
}
