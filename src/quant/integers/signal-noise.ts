/** Signal and quantization noise of arrays of numbers. Long arrays are measured by the WebAssembly kernel. */
import type { QParams } from './qparams.js';
import { MEASURE_GROUP, measureGroups, type SignalAndNoise } from './quantize-kernel.js';
import type { IntegerRange } from './quantized-dtype.js';
import { saturate } from './rounding.js';

const { fround } = Math;
/** For fewer elements, copying to the kernel costs more than it saves. */
const KERNEL_MIN_ELEMENTS = 64;

/** Σ x² and Σ (x − dequantized x)² over finite elements. `integers` are the integers that may be used. */
export function measureSignalAndNoise(x: Float32Array, qparams: QParams, integers: IntegerRange): SignalAndNoise {
  const whole = x.length < KERNEL_MIN_ELEMENTS ? 0 : x.length - (x.length % MEASURE_GROUP);
  let { signal, noise } = measureGroups(x.subarray(0, whole), qparams, integers);
  const { scale, zeroPoint } = qparams;
  for (let i = whole; i < x.length; i++) {
    const value = x[i] as number;
    const step = saturate(fround(value / scale), integers.low - zeroPoint, integers.high - zeroPoint);
    const difference = value - fround(step * scale);
    signal += value * value;
    noise += difference * difference;
  }
  return { signal, noise };
}
