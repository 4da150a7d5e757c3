/** The element types of ONNX and their storage. */

/** All ONNX element types, by their names in the ONNX documentation and NumPy. */
export type DType = keyof typeof DTYPES;

interface DTypeFacts {
  /** The number in TensorProto.DataType. */
  readonly onnx: number;
  /** Stored bits per element; types under 8 bits are packed, with the first element in the low bits. 0 for strings. */
  readonly bits: number;
}

export const DTYPES = {
  float32: { onnx: 1, bits: 32 },
  uint8: { onnx: 2, bits: 8 },
  int8: { onnx: 3, bits: 8 },
  uint16: { onnx: 4, bits: 16 },
  int16: { onnx: 5, bits: 16 },
  int32: { onnx: 6, bits: 32 },
  int64: { onnx: 7, bits: 64 },
  string: { onnx: 8, bits: 0 },
  bool: { onnx: 9, bits: 8 },
  float16: { onnx: 10, bits: 16 },
  float64: { onnx: 11, bits: 64 },
  uint32: { onnx: 12, bits: 32 },
  uint64: { onnx: 13, bits: 64 },
  complex64: { onnx: 14, bits: 64 },
  complex128: { onnx: 15, bits: 128 },
  bfloat16: { onnx: 16, bits: 16 },
  float8e4m3fn: { onnx: 17, bits: 8 },
  float8e4m3fnuz: { onnx: 18, bits: 8 },
  float8e5m2: { onnx: 19, bits: 8 },
  float8e5m2fnuz: { onnx: 20, bits: 8 },
  uint4: { onnx: 21, bits: 4 },
  int4: { onnx: 22, bits: 4 },
  float4e2m1: { onnx: 23, bits: 4 },
  float8e8m0: { onnx: 24, bits: 8 },
  uint2: { onnx: 25, bits: 2 },
  int2: { onnx: 26, bits: 2 },
} as const satisfies Record<string, DTypeFacts>;

const BY_ONNX = new Map<number, DType>(Object.entries(DTYPES).map(([name, facts]) => [facts.onnx, name as DType]));

/** The dtype with a TensorProto.DataType number; undefined for unknown numbers. */
export function findDTypeByOnnx(onnx: number): DType | undefined {
  return BY_ONNX.get(onnx);
}

/** Number of bytes of `count` elements of `dtype`, rounded up for packed types. 0 for strings, which have no fixed size. */
export function byteLength(dtype: DType, count: number): number {
  return Math.ceil((count * DTYPES[dtype].bits) / 8);
}
