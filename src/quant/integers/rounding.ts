/** How are halves rounded? To even, everywhere, as ONNX QuantizeLinear asks. */

/** 1.5 · 2⁵²: adding it leaves no bits for a fraction, so the addition itself rounds, halves to even. */
const MAGIC = 6755399441055744;
const INTEGRAL_FROM = 2 ** 51;

/** `x` rounded to an integer, halves to even. Every double from 2⁵¹ on counts as integral: all are multiples of ½ there, and every user saturates far below. */
export function roundHalfEven(x: number): number {
  return x < INTEGRAL_FROM && x > -INTEGRAL_FROM ? x + MAGIC - MAGIC : x;
}

/** round(x) limited to [low, high]; NaN gives `low`. */
export function saturate(x: number, low: number, high: number): number {
  const rounded = roundHalfEven(x);
  if (rounded >= high) return high;
  return rounded > low ? rounded : low;
}
