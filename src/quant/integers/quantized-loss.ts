/** What do numbers lose when they become integers? Signal and noise of the elements themselves, by the kernel where there are many. */
import type { QParams } from './qparams.js';
import { MEASURE_GROUP, measureGroups, type QuantizedLoss } from './quantize-kernel.js';
import type { IntegerRange } from './quantized-dtype.js';
import { saturate } from './rounding.js';

const { fround } = Math;
/** Below so many elements, copying costs more than it saves. */
const FEW = 64;

/** Σ x² and Σ (x − what its integer stands for)² over finite elements. `integers` are those that it may become. */
export function measureLoss(x: Float32Array, qparams: QParams, integers: IntegerRange): QuantizedLoss {
  const whole = x.length < FEW ? 0 : x.length - (x.length % MEASURE_GROUP);
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
