/** Conversion between 8-bit floats and float32 by tables of values. Source: ONNX, "Float stored in 8 bits"; Micikevicius et al., FP8 Formats for Deep Learning (2022). */

/** Signed formats. 'fn': no infinities; 'uz': a single zero, with NaN in place of −0. */
export type Float8 = 'float8e4m3fn' | 'float8e4m3fnuz' | 'float8e5m2' | 'float8e5m2fnuz';

interface Format {
  readonly mantissaBits: number;
  readonly bias: number;
  /** The code of the largest finite value. */
  readonly largest: number;
  /** The magnitude that would follow the largest value; it determines which numbers still round down to that value. */
  readonly infinity: number | undefined;
  /** The code of NaN, without sign if `hasNegativeZero`. */
  readonly nan: number;
  readonly hasNegativeZero: 'yes' | 'no';
}

const FORMATS: Readonly<Record<Float8, Format>> = {
  float8e4m3fn: { mantissaBits: 3, bias: 7, largest: 0x7e, infinity: undefined, nan: 0x7f, hasNegativeZero: 'yes' },
  float8e4m3fnuz: { mantissaBits: 3, bias: 8, largest: 0x7f, infinity: undefined, nan: 0x80, hasNegativeZero: 'no' },
  float8e5m2: { mantissaBits: 2, bias: 15, largest: 0x7b, infinity: 0x7c, nan: 0x7f, hasNegativeZero: 'yes' },
  float8e5m2fnuz: { mantissaBits: 2, bias: 16, largest: 0x7f, infinity: undefined, nan: 0x80, hasNegativeZero: 'no' },
};

/** The result for numbers beyond the largest value: that value, or infinity (NaN in formats without infinity). */
export type Overflow = 'saturate' | 'overflow';

/** The exact value of each code. */
export function decodeFloat8(dtype: Float8, codes: Uint8Array): Float32Array {
  const table = Float32Array.from({ length: 256 }, (_, code) => valueOfCode(FORMATS[dtype], code));
  return Float32Array.from(codes, code => table[code] as number);
}

/** The nearest code of each value (rounded to float32 first), ties to the even code. */
export function encodeFloat8(dtype: Float8, values: ArrayLike<number>, overflow: Overflow = 'saturate'): Uint8Array {
  const format = FORMATS[dtype];
  // An additional code: numbers that are nearer to it than to the largest value overflow.
  const magnitudes = Float64Array.from({ length: format.largest + 2 }, (_, code) => magnitudeOf(format, code));
  return Uint8Array.from(values, value => encodeOne(format, magnitudes, Math.fround(value), overflow));
}

/** Values of float8e8m0: powers of two, 2^(code − 127); 255 is NaN. */
export function decodeFloat8e8m0(codes: Uint8Array): Float32Array {
  return Float32Array.from(codes, code => (code === 255 ? Number.NaN : 2 ** (code - 127)));
}

const FLOAT4_VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6] as const;

/** Values of float4e2m1, one code per element (see `unpackInts` with 'uint4'). */
export function decodeFloat4e2m1(codes: Uint8Array): Float32Array {
  return Float32Array.from(codes, code => FLOAT4_VALUES[code & 15] as number);
}

function valueOfCode(format: Format, code: number): number {
  const magnitude = code & 0x7f;
  if (format.hasNegativeZero === 'no' && code === format.nan) return Number.NaN;
  if (magnitude > format.largest && magnitude !== format.infinity) return Number.NaN;
  const value = magnitude === format.infinity ? Number.POSITIVE_INFINITY : magnitudeOf(format, magnitude);
  return code > 0x7f ? -value : value;
}

function magnitudeOf({ mantissaBits, bias }: Format, code: number): number {
  const exponent = code >> mantissaBits;
  const fraction = code & (2 ** mantissaBits - 1);
  return exponent === 0
    ? fraction * 2 ** (1 - bias - mantissaBits)
    : (2 ** mantissaBits + fraction) * 2 ** (exponent - bias - mantissaBits);
}

function encodeOne(format: Format, magnitudes: Float64Array, value: number, overflow: Overflow): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0;
  if (Number.isNaN(value)) return format.nan;
  const nearest = findNearest(magnitudes, Math.abs(value));
  const code = nearest <= format.largest || overflow === 'saturate' ? Math.min(nearest, format.largest) : (format.infinity ?? format.nan);
  if (format.hasNegativeZero === 'yes') return sign | code;
  return code === 0 || code === format.nan ? code : sign | code;
}

/** The index of the nearest magnitude; ties go to the even index. `magnitudes` are ascending. */
function findNearest(magnitudes: Float64Array, value: number): number {
  let low = 0;
  let high = magnitudes.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((magnitudes[middle] as number) <= value) low = middle;
    else high = middle;
  }
  const [below, above] = [value - (magnitudes[low] as number), (magnitudes[high] as number) - value];
  if (below === above) return low % 2 === 0 ? low : high;
  return below < above ? low : high;
}
