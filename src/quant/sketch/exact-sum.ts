/** Exact sums of doubles, as an integer times a power of two, so that the order of addition does not matter. */
import { QuantError } from '../integers/quant-error.js';

/** mantissa · 2^exponent. The mantissa is odd, or 0 with exponent 0, so that each number has one form. */
export interface Dyadic {
  readonly mantissa: bigint;
  readonly exponent: number;
}

export const ZERO: Dyadic = { mantissa: 0n, exponent: 0 };

const view = new DataView(new ArrayBuffer(8));

/** The exact value of a finite double. */
export function toDyadic(value: number): Dyadic {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = biased === 0 ? fraction : fraction | (1n << 52n);
  return normalize(bits >> 63n === 1n ? -magnitude : magnitude, Math.max(biased, 1) - 1075);
}

/** The exact sum: commutative and associative. */
export function addDyadic(a: Dyadic, b: Dyadic): Dyadic {
  const exponent = Math.min(a.exponent, b.exponent);
  return normalize((a.mantissa << BigInt(a.exponent - exponent)) + (b.mantissa << BigInt(b.exponent - exponent)), exponent);
}

/** The nearest double, rounded half to even as Number(bigint) does, if it is a normal one. */
export function fromDyadic({ mantissa, exponent }: Dyadic): number {
  const magnitude = Number(mantissa);
  // In two steps, because 2 ** −1100 alone is 0.
  return exponent < -1000 ? magnitude * 2 ** -1000 * 2 ** (exponent + 1000) : magnitude * 2 ** exponent;
}

/** "-5e-3" is −5 · 2⁻³. */
export function formatDyadic({ mantissa, exponent }: Dyadic): string {
  return `${mantissa}e${exponent}`;
}

/** @throws QuantError `bad-sketches`. */
export function parseDyadic(text: string): Dyadic {
  const match = /^(-?\d{1,800})e(-?\d{1,5})$/.exec(text);
  if (match === null) throw new QuantError('bad-sketches', `"${text.slice(0, 40)}" is not an exact sum`);
  return normalize(BigInt(match[1] ?? '0'), Number(match[2]));
}

function normalize(mantissa: bigint, exponent: number): Dyadic {
  if (mantissa === 0n) return ZERO;
  let odd = mantissa;
  let power = exponent;
  for (let step = 64n; step > 0n; step >>= 1n) {
    while ((odd & ((1n << step) - 1n)) === 0n) [odd, power] = [odd >> step, power + Number(step)];
  }
  return { mantissa: odd, exponent: power };
}
