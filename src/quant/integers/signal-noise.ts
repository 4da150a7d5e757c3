/** Signal and quantization noise of arrays of numbers. Long arrays are measured by the WebAssembly kernel. */
import { findPosition, MIN_SCALE } from './power-of-two.js';
import type { QParams, Range } from './qparams.js';
import { findExtremesOfGroups, MEASURE_GROUP, measureGroups, measureNoiseOfGroups, type SignalAndNoise } from './quantize-kernel.js';
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

/** The noise of `measureSignalAndNoise`, in half the time where the scale is a power of two. @param largest no magnitude of `x` is greater. */
export function measureNoise(x: Float32Array, qparams: QParams, integers: IntegerRange, largest: number): number {
  const { scale } = qparams;
  const isExact = scale >= MIN_SCALE && largest < 2 ** 23 * scale && findPosition(scale) !== undefined;
  if (!isExact || x.length < KERNEL_MIN_ELEMENTS) return measureSignalAndNoise(x, qparams, integers).noise;
  const whole = x.length - (x.length % MEASURE_GROUP);
  const noise = measureNoiseOfGroups(x.subarray(0, whole), qparams, integers);
  return addPlainly({ signal: 0, noise }, x, whole, qparams, integers).noise;
}

/** The least and the greatest of at least one element, with −0 as 0; undefined if one is NaN or infinite. */
export function findExtremes(x: Float32Array): Range | undefined {
  const whole = x.length < KERNEL_MIN_ELEMENTS ? 0 : x.length - (x.length % MEASURE_GROUP);
  const found =
    whole === 0 ? { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY } : findExtremesOfGroups(x.subarray(0, whole));
  if (found === undefined) return undefined;
  let { low, high } = found;
  for (let i = whole; i < x.length; i++) {
    const value = x[i] as number;
    if (!Number.isFinite(value)) return undefined;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low: low + 0, high: high + 0 };
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
