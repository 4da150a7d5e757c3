/** The squared error of quantizing a value, computed from its distribution. */

import type { QParams } from '../integers/qparams.js';
import { type IntegerScheme, storageRange } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';

/**
 * Σ (x − dequantized x)² over all elements, including saturated ones.
 *
 * A bin inside one quantization step counts as its mean plus the variance of evenly spread elements, (count − 1) · width² / 12, or less if the mean lies
 * close to an edge. If a bin contains a step border, or steps are narrower than bins, its elements count as evenly spread.
 * Borders of power-of-two steps of at least two bins fall on bin edges: there, the errors at two scales differ exactly as those of the elements,
 * up to the resolution of the means. Bounds: docs/numerics.md.
 */
export function squaredError(distribution: Distribution, { scale, zeroPoint }: QParams, { dtype }: IntegerScheme): number {
  const { low, high } = storageRange(dtype);
  const steps: Steps = { scale, least: low - zeroPoint, greatest: high - zeroPoint };
  const { counts, means, width, first, min, max } = distribution;
  const isFine = scale < width;
  let error = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    if (count === 0) continue;
    // The outermost bins end at the outermost elements.
    const left = Math.max((first + i) * width, min);
    const right = Math.min((first + i + 1) * width, max);
    const span = right - left;
    const nearest = nearestStep(steps, left);
    // The next step starts half a step above `nearest`; the largest step has no upper border.
    const border = nearest === steps.greatest ? Number.POSITIVE_INFINITY : (nearest + 0.5) * scale;
    if (right <= border) {
      const mean = means[i] as number;
      const distance = mean - nearest * scale;
      error += count * distance * distance + (count - 1) * Math.max(0, Math.min((span * span) / 12, (mean - left) * (right - mean)));
    } else if (isFine) {
      error += (count / span) * spreadErrorOfFine(steps, left, right);
    } else {
      error += (count / span) * (integral(left, border, nearest * scale) + integral(border, right, (nearest + 1) * scale));
    }
  }
  return error;
}

/** Step numbers relative to zero. */
interface Steps {
  readonly scale: number;
  readonly least: number;
  readonly greatest: number;
}

function nearestStep({ scale, least, greatest }: Steps, x: number): number {
  return Math.min(Math.max(Math.floor(x / scale + 0.5), least), greatest);
}

/** ∫ (x − at)² from `from` to `to`. */
function integral(from: number, to: number, at: number): number {
  const [a, b] = [from - at, to - at];
  return (b * b * b - a * a * a) / 3;
}

/** ∫ (x − its step)² over a bin that contains many steps: step² / 12 per unit of width, plus the part that saturates. */
function spreadErrorOfFine({ scale, least, greatest }: Steps, left: number, right: number): number {
  const [bottom, top] = [(least - 0.5) * scale, (greatest + 0.5) * scale];
  const below = left < bottom ? integral(left, Math.min(right, bottom), least * scale) : 0;
  const above = right > top ? integral(Math.max(left, top), right, greatest * scale) : 0;
  const inside = Math.max(0, Math.min(right, top) - Math.max(left, bottom));
  return below + above + (inside * scale * scale) / 12;
}
