/** Conformance of float conversions with the ONNX Cast tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeMessage } from '../../../src/onnx/proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../../../src/onnx/proto/codec/schema.js';
import { decodeTensorProto } from '../../../src/onnx/serde/tensor-proto.js';
import { decodeFloat4e2m1, decodeFloat8, decodeFloat8e8m0, encodeFloat8, type Float8 } from '../../../src/tensor/numeric/float8.js';
import { decodeBfloat16Array, decodeFloat16Array, encodeBfloat16, encodeFloat16 } from '../../../src/tensor/numeric/half.js';
import { packInts, unpackInts } from '../../../src/tensor/numeric/int4.js';
import { decodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { countElements } from '../../../src/tensor/shape.js';
import type { RawTensor, Tensor } from '../../../src/tensor/tensor.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

function readTensor(test: string, file: string): RawTensor {
  const path = join(shared ?? '', 'conformance/onnx/node', test, 'test_data_set_0', file);
  const constant = decodeTensorProto(decodeMessage(WHOLE_SCHEMA, 'TensorProto', readFileSync(path)), undefined);
  if (!('bytes' in constant)) throw new Error(`${test} holds strings`);
  return constant;
}

const float32Of = (tensor: Tensor): Float32Array => (tensor.dtype === 'float32' ? tensor.data : new Float32Array(0));

/** The values of a tensor of a narrow dtype, by our own decoders. */
function decode(raw: RawTensor): number[] {
  const count = countElements(raw.dims);
  switch (raw.dtype) {
    case 'float16':
      return [...decodeFloat16Array(decodeRawTensor({ ...raw, dtype: 'float16' }).data)];
    case 'bfloat16':
      return [...decodeBfloat16Array(decodeRawTensor({ ...raw, dtype: 'bfloat16' }).data)];
    case 'float8e8m0':
      return [...decodeFloat8e8m0(raw.bytes)];
    case 'float4e2m1':
      return [...decodeFloat4e2m1(unpackInts('uint4', raw.bytes, count))];
    case 'int4':
    case 'uint4':
    case 'int2':
    case 'uint2':
      return [...unpackInts(raw.dtype, raw.bytes, count)];
    default:
      return [...decodeFloat8(raw.dtype as Float8, raw.bytes)];
  }
}

suite("ONNX's Cast cases", () => {
  it.each([
    'BFLOAT16',
    'FLOAT16',
    'FLOAT8E4M3FN',
    'FLOAT8E4M3FNUZ',
    'FLOAT8E5M2',
    'FLOAT8E5M2FNUZ',
    'FLOAT4E2M1',
    'INT4',
    'UINT4',
    'INT2',
    'UINT2',
  ])('%s becomes float32', name => {
    const test = `test_cast_${name}_to_FLOAT`;
    expect(decode(readTensor(test, 'input_0.pb'))).toEqual([...float32Of(decodeRawTensor(readTensor(test, 'output_0.pb')))]);
  });

  it('FLOAT8E8M0 becomes float32', () => {
    const test = 'test_cast_e8m0_FLOAT8E8M0_to_FLOAT';
    expect(decode(readTensor(test, 'input_0.pb'))).toEqual([...float32Of(decodeRawTensor(readTensor(test, 'output_0.pb')))]);
  });

  it.each([
    ['FLOAT16', encodeFloat16],
    ['BFLOAT16', encodeBfloat16],
  ] as const)('float32 becomes %s', (name, encode) => {
    const test = `test_cast_FLOAT_to_${name}`;
    const wanted = decodeRawTensor(readTensor(test, 'output_0.pb'));
    const found = Uint16Array.from(float32Of(decodeRawTensor(readTensor(test, 'input_0.pb'))), encode);
    expect([...found]).toEqual([...(wanted.data as Uint16Array)]);
  });

  const formats = [
    ['FLOAT8E4M3FN', 'float8e4m3fn'],
    ['FLOAT8E4M3FNUZ', 'float8e4m3fnuz'],
    ['FLOAT8E5M2', 'float8e5m2'],
    ['FLOAT8E5M2FNUZ', 'float8e5m2fnuz'],
  ] as const;
  it.each(
    formats.flatMap(
      ([name, dtype]) =>
        [
          [`test_cast_FLOAT_to_${name}`, dtype, 'saturate'],
          [`test_cast_no_saturate_FLOAT_to_${name}`, dtype, 'overflow'],
        ] as const,
    ),
  )('%s', (test, dtype, overflow) => {
    const input = float32Of(decodeRawTensor(readTensor(test, 'input_0.pb')));
    expect(decodeFloat8(dtype, encodeFloat8(dtype, input, overflow))).toEqual(decodeFloat8(dtype, readTensor(test, 'output_0.pb').bytes));
  });

  it.each(['INT4', 'UINT4', 'INT2', 'UINT2'] as const)('%s is packed as ONNX packs it', name => {
    const raw = readTensor(`test_cast_${name}_to_FLOAT`, 'input_0.pb');
    const dtype = name.toLowerCase() as 'int4' | 'uint4' | 'int2' | 'uint2';
    expect([...packInts(dtype, unpackInts(dtype, raw.bytes, countElements(raw.dims)))]).toEqual([...raw.bytes]);
  });
});
