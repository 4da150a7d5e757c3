/** How much does quantization lose of a value? The sum of squared differences, from its distribution alone. */

import type { QParams } from '../integers/qparams.js';
import { type IntegerScheme, storageRange } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';

/**
 * Σ (x − dequantized x)² over all elements, those that saturate included.
 *
 * A bin inside one quantization step counts as its elements' mean, and their spread around it as that of evenly spread elements: (count − 1) · width² / 12, or less
 * where the mean lies so close to an edge that they cannot spread so far. Where a step is cut by the border of two steps, or steps are narrower than bins, its elements
 * count as evenly spread. Borders of power-of-two steps of at least two bins fall on edges of bins: there, errors at two scales differ exactly as the
 * elements' errors do, up to the resolution of the means. Bounds: docs/numerics.md.
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
    // The outermost bins end where the outermost elements are.
    const left = Math.max((first + i) * width, min);
    const right = Math.min((first + i + 1) * width, max);
    const span = right - left;
    const nearest = nearestStep(steps, left);
    // Half a step up from `nearest`, where the next one begins; the greatest one has no end.
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

/** Numbers of steps, counted from zero. */
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

/** ∫ (x − its step)² over a bin with many steps in it: a twelfth of the squared step per unit of width, and the rest where it saturates. */
function spreadErrorOfFine({ scale, least, greatest }: Steps, left: number, right: number): number {
  const [bottom, top] = [(least - 0.5) * scale, (greatest + 0.5) * scale];
  const below = left < bottom ? integral(left, Math.min(right, bottom), least * scale) : 0;
  const above = right > top ? integral(Math.max(left, top), right, greatest * scale) : 0;
  const inside = Math.max(0, Math.min(right, top) - Math.max(left, bottom));
  return below + above + (inside * scale * scale) / 12;
}
