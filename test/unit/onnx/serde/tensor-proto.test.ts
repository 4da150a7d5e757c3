/** Tests of the conversion of TensorProto messages. */
import type { TensorProto } from '../../../../src/onnx/proto/generated/messages.js';
import { decodeTensorProto } from '../../../../src/onnx/serde/tensor-proto.js';
import { failureOf } from '../../../support/error-code.js';

const dims = (...sizes: number[]): BigInt64Array => BigInt64Array.from(sizes, BigInt);

/** Expected bytes by ONNX's rules for the typed fields (onnx.proto, TensorProto), written by hand. */
const CASES: readonly (readonly [string, TensorProto, readonly number[]])[] = [
  ['float32 in float_data', { dataType: 1, dims: dims(1), floatData: Float32Array.of(1) }, [0, 0, 128, 63]],
  ['uint8 in int32_data', { dataType: 2, dims: dims(2), int32Data: Int32Array.of(255, 1) }, [255, 1]],
  ['int8 in int32_data', { dataType: 3, dims: dims(2), int32Data: Int32Array.of(-1, 1) }, [255, 1]],
  ['uint16 in int32_data', { dataType: 4, dims: dims(1), int32Data: Int32Array.of(65534) }, [254, 255]],
  ['int16 in int32_data', { dataType: 5, dims: dims(1), int32Data: Int32Array.of(-2) }, [254, 255]],
  ['int32 in int32_data', { dataType: 6, dims: dims(1), int32Data: Int32Array.of(-2) }, [254, 255, 255, 255]],
  ['int64 in int64_data', { dataType: 7, dims: dims(1), int64Data: BigInt64Array.of(-2n) }, [254, 255, 255, 255, 255, 255, 255, 255]],
  ['bool in int32_data', { dataType: 9, dims: dims(2), int32Data: Int32Array.of(1, 0) }, [1, 0]],
  ['float16 bits in int32_data', { dataType: 10, dims: dims(1), int32Data: Int32Array.of(0x3c00) }, [0, 0x3c]],
  ['float64 in double_data', { dataType: 11, dims: dims(1), doubleData: Float64Array.of(1) }, [0, 0, 0, 0, 0, 0, 240, 63]],
  ['uint32 in uint64_data', { dataType: 12, dims: dims(1), uint64Data: BigUint64Array.of(0xfffffffen) }, [254, 255, 255, 255]],
  ['uint64 in uint64_data', { dataType: 13, dims: dims(1), uint64Data: BigUint64Array.of(1n) }, [1, 0, 0, 0, 0, 0, 0, 0]],
  ['complex64 as pairs in float_data', { dataType: 14, dims: dims(1), floatData: Float32Array.of(1, 0) }, [0, 0, 128, 63, 0, 0, 0, 0]],
  ['bfloat16 bits in int32_data', { dataType: 16, dims: dims(1), int32Data: Int32Array.of(0x3f80) }, [0x80, 0x3f]],
  ['float8 bits in int32_data', { dataType: 17, dims: dims(1), int32Data: Int32Array.of(0x7e) }, [0x7e]],
  ['int4 pairs in int32_data', { dataType: 22, dims: dims(3), int32Data: Int32Array.of(0x21, 0x0f) }, [0x21, 0x0f]],
];

describe('a tensor in typed fields', () => {
  it.each(CASES)('of %s becomes the bytes it means', (_, proto, bytes) => {
    const constant = decodeTensorProto(proto, undefined);

    expect('bytes' in constant ? [...constant.bytes] : undefined).toEqual(bytes);
  });

  it('of strings becomes text', () => {
    const proto = { dataType: 8, dims: dims(2), stringData: [Uint8Array.of(0xc3, 0xa9), new Uint8Array(0)] };

    expect(decodeTensorProto(proto, undefined)).toEqual({ dtype: 'string', dims: [2], data: ['é', ''] });
  });

  it('without elements needs no field', () => {
    expect(decodeTensorProto({ dataType: 1, dims: dims(0, 3) }, undefined)).toEqual({
      dtype: 'float32',
      dims: [0, 3],
      bytes: new Uint8Array(0),
    });
  });

  it.each<[string, TensorProto, string]>([
    ['an element type that ONNX lacks', { dataType: 99 }, 'element type 99'],
    ['no element type', {}, 'element type 0'],
    ['a negative size', { dataType: 1, dims: dims(-1) }, 'negative dim'],
    ['sizes beyond counting', { dataType: 1, dims: dims(2 ** 40, 2 ** 40) }, 'too many elements'],
    [
      'fewer bytes than its shape says',
      { dataType: 1, name: 'w', dims: dims(2), rawData: new Uint8Array(7) },
      'tensor "w": a float32 tensor [2] needs 8 bytes, got 7',
    ],
    ['more elements than its shape says', { dataType: 1, dims: dims(1), floatData: Float32Array.of(1, 2) }, 'needs 4 bytes, got 8'],
    ['an element beyond its type', { dataType: 3, dims: dims(1), int32Data: Int32Array.of(300) }, 'the element 300'],
    ['too few strings', { dataType: 8, dims: dims(2), stringData: [new Uint8Array(0)] }, 'needs 2 array elements'],
    ['a segment', { dataType: 1, dims: dims(0), segment: {} }, 'segment'],
  ])('is refused with %s', async (_, proto, reason) => {
    const { code, message } = await failureOf(() => decodeTensorProto(proto, undefined));

    expect(code).toBe('model-malformed');
    expect(message).toContain(reason);
  });

  it('outside the file is refused if only bytes are given', async () => {
    const proto = { dataType: 1, dataLocation: 1, externalData: [{ key: 'location', value: 'w.bin' }] };

    expect((await failureOf(() => decodeTensorProto(proto, undefined))).code).toBe('external-data-missing');
  });
});
