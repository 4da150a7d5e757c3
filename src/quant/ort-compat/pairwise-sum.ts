/** NumPy's pairwise sum of float32 numbers: eight partial sums in blocks of 128, joined in pairs, with the same rounding. */

const { fround } = Math;
const BLOCK = 128;

/** numpy.sum of a float32 array. @see numpy, core/src/umath/loops_utils.h.src, pairwise sum. */
export function sumPairwise(values: Float32Array): number {
  const { length } = values;
  if (length < 8) return values.reduce((sum, x) => fround(sum + x), 0);
  if (length > BLOCK) {
    const half = (length >> 1) - ((length >> 1) % 8);
    return fround(sumPairwise(values.subarray(0, half)) + sumPairwise(values.subarray(half)));
  }
  const lanes = values.slice(0, 8);
  const whole = length - (length % 8);
  for (let i = 8; i < whole; i++) lanes[i % 8] = fround((lanes[i % 8] as number) + (values[i] as number));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = lanes;
  const joined = fround(fround(fround(a + b) + fround(c + d)) + fround(fround(e + f) + fround(g + h)));
  return values.subarray(whole).reduce((sum, x) => fround(sum + x), joined);
}
