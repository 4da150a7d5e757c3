/** Rounding to the nearest integer, halves to even. */

/** 1.5 · 2⁵²: adding it leaves no bits for a fraction, so that the addition itself rounds halves to even. */
const MAGIC = 6755399441055744;
const INTEGRAL_FROM = 2 ** 51;

/** `x` rounded to an integer, halves to even. Doubles from 2⁵¹ on are returned as they are, although they may have a fraction of ½. */
export function roundHalfEven(x: number): number {
  return x < INTEGRAL_FROM && x > -INTEGRAL_FROM ? x + MAGIC - MAGIC : x;
}
