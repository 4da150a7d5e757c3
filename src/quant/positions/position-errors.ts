/** Relative squared errors of tensors at power-of-two positions: of activations from their sketches, of constants from their elements. */
import type { RawTensor } from '../../tensor/tensor.js';
import { scaleAt } from '../integers/power-of-two.js';
import type { QParams, Range } from '../integers/qparams.js';
import { type IntegerRange, type IntegerScheme, storageRange } from '../integers/quantized-dtype.js';
import { measureSignalAndNoise } from '../integers/signal-noise.js';
import { paramsAt } from '../range/choose-position.js';
import type { Observation } from '../range/range-method.js';
import { squaredError } from '../range/squared-error.js';
import { distributionOf } from '../sketch/distribution.js';
import { type BiasIntegers, quantizeBiasAt } from '../weights/biases.js';
import { decodeFloats, withFloats } from '../weights/weights.js';

/** Σ (x − x̂)² / Σ x²; 0 for zeros only. */
export function activationError(observation: Observation, range: Range, integers: IntegerScheme): (position: number) => number {
  if (observation.kind === 'known') return position => evenError(observation.range, paramsAt(position, range, integers), integers);
  const distribution = distributionOf(observation.sketch);
  if (distribution.squares === 0) return () => 0;
  return position => squaredError(distribution, paramsAt(position, range, integers), integers) / distribution.squares;
}

/** Of numbers that are evenly spread over the range. */
function evenError({ low, high }: Range, { scale, zeroPoint }: QParams, { dtype }: IntegerScheme): number {
  if (low === high) return 0;
  const limits = storageRange(dtype);
  const [least, most] = [(limits.low - zeroPoint) * scale, (limits.high - zeroPoint) * scale];
  const integral = (from: number, to: number, at: number): number => (from < to ? ((to - at) ** 3 - (from - at) ** 3) / 3 : 0);
  const below = integral(low, Math.min(least, high), least);
  const above = integral(Math.max(most, low), high, most);
  const inside = Math.max(0, Math.min(high, most) - Math.max(low, least));
  return (below + above + (inside * scale * scale) / 12) / integral(low, high, 0);
}

export function weightError(
  constant: RawTensor,
  paramsOf: (position: number) => QParams,
  limits: IntegerRange,
): (position: number) => number {
  return position => {
    const { signal, noise } = withFloats(constant, data => measureSignalAndNoise(data, paramsOf(position), limits));
    return signal === 0 ? 0 : noise / signal;
  };
}

/**
 * Relative to the output that the bias is added to: its mean square per channel is `power`.
 * @param power undefined if calibration did not see the output: then relative to the bias itself.
 */
export function biasError(bias: RawTensor, dtype: BiasIntegers, power: number | undefined): (position: number) => number {
  const data = decodeFloats(bias);
  const own = data.reduce((sum, x) => sum + x * x, 0);
  const signal = power === undefined ? own : power * data.length;
  return position => (signal === 0 ? 0 : quantizeBiasAt(bias, scaleAt(position), dtype).noise / signal);
}
