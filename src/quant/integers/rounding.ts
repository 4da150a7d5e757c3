/** Rounding half to even, as ONNX QuantizeLinear specifies. */

/** 1.5 · 2⁵²: adding it leaves no bits for a fraction, so that the addition itself rounds half to even. */
const MAGIC = 6755399441055744;
const INTEGRAL_FROM = 2 ** 51;

/** `x` rounded half to even. Doubles from 2⁵¹ on are returned as they are: they are multiples of ½, and every caller saturates far below. */
export function roundHalfEven(x: number): number {
  return x < INTEGRAL_FROM && x > -INTEGRAL_FROM ? x + MAGIC - MAGIC : x;
}

/** round(x), limited to [low, high]. NaN gives `low`. */
export function saturate(x: number, low: number, high: number): number {
  const rounded = roundHalfEven(x);
  if (rounded >= high) return high;
  return rounded > low ? rounded : low;
}
