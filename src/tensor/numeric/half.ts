/** Conversion between float32 and the 16-bit floats IEEE 754 binary16 and bfloat16, rounded half to even. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The binary16 bits nearest to `value` (rounded to float32 first); ±infinity from 65520 on. A NaN keeps its sign and the high bits of its payload. */
export function encodeFloat16(value: number): number {
  float[0] = value;
  const word = bits[0] ?? 0;
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7c00 | ((magnitude >>> 13) & 0x3ff || 1);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) return sign | roundShift(magnitude - 0x38000000, 13);
  if (magnitude < 0x33000000) return sign;
  return sign | roundShift((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >>> 23));
}

/** The value of binary16 bits; exact. */
export function decodeFloat16(half: number): number {
  const fraction = half & 0x3ff;
  const exponent = (half >>> 10) & 0x1f;
  const sign = half & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (fraction + 1024) * 2 ** (exponent - 25));
}

/** The bfloat16 bits nearest to `value` (rounded to float32 first). A NaN becomes a quiet NaN. */
export function encodeBfloat16(value: number): number {
  float[0] = value;
  const word = bits[0] ?? 0;
  if ((word & 0x7fffffff) > 0x7f800000) return (word >>> 16) | 0x40;
  return ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The value of bfloat16 bits; exact. */
export function decodeBfloat16(half: number): number {
  bits[0] = half << 16;
  return float[0] ?? 0;
}

export function encodeFloat16Array(values: ArrayLike<number>): Uint16Array {
  return Uint16Array.from(values, encodeFloat16);
}

export function decodeFloat16Array(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, decodeFloat16);
}

export function encodeBfloat16Array(values: ArrayLike<number>): Uint16Array {
  return Uint16Array.from(values, encodeBfloat16);
}

/** Exact, including NaN payloads: the bits become the high half of each word. */
export function decodeBfloat16Array(halves: Uint16Array): Float32Array {
  const words = Uint32Array.from(halves, half => half << 16);
  return new Float32Array(words.buffer);
}

/** `value` / 2^`shift`, rounded half to even. */
function roundShift(value: number, shift: number): number {
  const quotient = value >>> shift;
  const rest = value - quotient * 2 ** shift;
  const half = 2 ** (shift - 1);
  return rest > half || (rest === half && (quotient & 1) === 1) ? quotient + 1 : quotient;
}
