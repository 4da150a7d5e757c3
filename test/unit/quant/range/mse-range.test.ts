/** The mse range, which ends the sums of worse candidates early, against all candidates in full. */
import { computeQParams } from '../../../../src/quant/integers/qparams.js';
import type { IntegerScheme } from '../../../../src/quant/integers/quantized-dtype.js';
import { leastErrorRange } from '../../../../src/quant/range/mse-range.js';
import { squaredError } from '../../../../src/quant/range/squared-error.js';
import type { Distribution } from '../../../../src/quant/sketch/distribution.js';
import { seededRandom } from '../../../../src/stage/random.js';

const CANDIDATES = 37;

function inFull(distribution: Distribution, integers: IntegerScheme) {
  const { min, max } = distribution;
  let best = { range: { low: min, high: max }, error: Number.POSITIVE_INFINITY };
  for (let k = CANDIDATES; k >= 1; k--) {
    const range = { low: Math.fround((min * k) / CANDIDATES), high: Math.fround((max * k) / CANDIDATES) };
    const error = squaredError(distribution, computeQParams(range, integers), integers);
    if (error < best.error) best = { range, error };
  }
  return best.range;
}

/** Bins with gaps, of few or a million elements, on both sides of zero or on one. */
function randomDistribution(seed: string): Distribution {
  const random = seededRandom('test', seed);
  const bins = 1 + Math.floor(random() * 60);
  const [width, first] = [2 ** Math.floor(random() * 8 - 6), -Math.floor(random() * bins)];
  const [counts, means] = [new Float64Array(bins), new Float64Array(bins)];
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < bins; i++) {
    if (i > 0 && random() < 0.4) continue;
    counts[i] = 1 + Math.floor(random() * (random() < 0.3 ? 1e6 : 5));
    const [a, b] = [(first + i + random() * 0.99) * width, (first + i + random() * 0.99) * width];
    means[i] = (a + b) / 2;
    [min, max] = [Math.min(min, Math.fround(Math.min(a, b))), Math.max(max, Math.fround(Math.max(a, b)))];
  }
  return { width, first, counts, means, zeros: 0, total: counts.reduce((sum, count) => sum + count), squares: 1, min, max };
}

it.each([
  { dtype: 'uint8', symmetric: false, reduceRange: false },
  { dtype: 'int8', symmetric: true, reduceRange: false },
  { dtype: 'int16', symmetric: true, reduceRange: false },
] as const)('is that of all candidates in full: $dtype', integers => {
  for (let i = 0; i < 60; i++) {
    const distribution = randomDistribution(`${integers.dtype} ${i}`);
    expect(leastErrorRange(distribution, CANDIDATES, integers)).toEqual(inFull(distribution, integers));
  }
});
