/** The integer types of quantized tensors, and the part of each type that a scheme uses. */

export const QUANTIZED_DTYPES = ['int8', 'uint8', 'int16', 'uint16'] as const;

export type QuantizedDType = (typeof QUANTIZED_DTYPES)[number];

export interface IntegerRange {
  readonly low: number;
  readonly high: number;
}

const FULL: Readonly<Record<QuantizedDType, IntegerRange>> = {
  int8: { low: -128, high: 127 },
  uint8: { low: 0, high: 255 },
  int16: { low: -32768, high: 32767 },
  uint16: { low: 0, high: 65535 },
};

const SYMMETRIC: Readonly<Record<QuantizedDType, IntegerRange>> = {
  ...FULL,
  int8: { low: -127, high: 127 },
  int16: { low: -32767, high: 32767 },
};

/** One bit less, so that sums of two products fit the 16-bit accumulators of processors without VNNI. */
const REDUCED: Readonly<Record<QuantizedDType, IntegerRange>> = {
  int8: { low: -64, high: 64 },
  uint8: { low: 0, high: 127 },
  int16: { low: -16384, high: 16384 },
  uint16: { low: 0, high: 32767 },
};

/** The integers of a tensor: the type, whether zero is in the middle, and whether one bit stays unused. */
export interface IntegerScheme {
  readonly dtype: QuantizedDType;
  readonly symmetric: boolean;
  readonly reduceRange: boolean;
  /** Fewer bits than the type stores: 2 to 8. Replaces `reduceRange`. */
  readonly bits?: number;
}

/** All integers of the type. Quantized values saturate at these limits. */
export function storageRange(dtype: QuantizedDType): IntegerRange {
  return FULL[dtype];
}

/** The integers that a data range maps to. Signed symmetric types omit their lowest value, so that zero is the middle. */
export function mappedRange({ dtype, symmetric, reduceRange, bits }: IntegerScheme): IntegerRange {
  if (bits !== undefined) return rangeOfBits(dtype, bits, symmetric);
  if (reduceRange) return REDUCED[dtype];
  return symmetric ? SYMMETRIC[dtype] : FULL[dtype];
}

function rangeOfBits(dtype: QuantizedDType, bits: number, symmetric: boolean): IntegerRange {
  const isUnsigned = dtype === 'uint8' || dtype === 'uint16';
  if (isUnsigned) return { low: 0, high: 2 ** bits - 1 };
  const high = 2 ** (bits - 1) - 1;
  return { low: symmetric ? -high : -high - 1, high };
}

/** The integers at which quantized values saturate: all of the type, or those of fewer bits. */
export function saturationRange(scheme: Pick<IntegerScheme, 'dtype' | 'bits' | 'symmetric'>): IntegerRange {
  return scheme.bits === undefined ? storageRange(scheme.dtype) : mappedRange({ ...scheme, reduceRange: false });
}
