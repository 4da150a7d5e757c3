/** Conversion between TensorProto messages and constants. Raw bytes are views; typed fields are converted to bytes. */
import { byteLength, findDTypeByOnnx } from '../../tensor/dtype.js';
import { makeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements, formatShape } from '../../tensor/shape.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { Constant } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { DataLocation, type TensorProto } from '../proto/generated/messages.js';
import type { ExternalLocation, ExternalTensor, ReadExternal } from './external-data.js';
import { parseExternalLocation } from './external-data.js';
import { malformed, toSafeInteger } from './malformed.js';

/** Rejects invalid UTF-8, which could not be written back, and keeps a byte order mark. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

type RawDType = RawTensor['dtype'];

/**
 * The constant in `proto`. Bytes in `raw_data` become views of the decoded file.
 * @param readExternal  reads external data; if undefined, external data is an error.
 * @throws OnnxError `model-malformed`, `external-data-missing`, and what `readExternal` throws.
 */
export function decodeTensorProto(proto: TensorProto, readExternal: ReadExternal | undefined): Constant {
  const label = `tensor "${proto.name ?? ''}"`;
  const dims = decodeDims(proto, label);
  const dtype = findDTypeByOnnx(proto.dataType ?? 0);
  if (dtype === undefined) throw malformed(`${label} has the unknown element type ${proto.dataType ?? 0}`);
  if (proto.segment !== undefined) throw malformed(`${label} is a segment of a larger tensor, which is not supported`);
  try {
    if (dtype === 'string') {
      if (proto.dataLocation === DataLocation.EXTERNAL) throw malformed(`${label} has strings as external data, which ONNX does not allow`);
      return makeTensor(
        'string',
        dims,
        (proto.stringData ?? []).map(bytes => decodeText(bytes, label)),
      );
    }
    const sizeBytes = byteLength(dtype, countElements(dims));
    if (proto.dataLocation === DataLocation.EXTERNAL) return locateExternal(proto, { dtype, dims, sizeBytes, label }, readExternal);
    return makeRawTensor(dtype, dims, proto.rawData ?? decodeTypedField(proto, dtype, label));
  } catch (error) {
    if (error instanceof TensorError) throw malformed(`${label}: ${error.message}`);
    throw error;
  }
}

function decodeDims(proto: TensorProto, label: string): number[] {
  const dims = Array.from(proto.dims ?? [], dim => toSafeInteger(dim, `${label}: a dim`));
  if (dims.some(dim => dim < 0)) throw malformed(`${label} has a negative dim: ${formatShape(dims)}`);
  return dims;
}

function decodeText(bytes: Uint8Array, label: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed(`${label} has a string that is not UTF-8`);
  }
}

function locateExternal(proto: TensorProto, tensor: ExternalTensor, readExternal: ReadExternal | undefined): Constant {
  const { label } = tensor;
  if (readExternal === undefined) {
    throw new OnnxError('external-data-missing', `${label} has external data, and the model was not read from a file`, {
      help: 'read the model from its file instead of from bytes',
    });
  }
  return readExternal(parseExternalLocation(proto, label), tensor);
}

/** The bytes for the typed fields: small dtypes have one element (packed dtypes: one byte) per int32, complex numbers are pairs. */
function decodeTypedField(proto: TensorProto, dtype: RawDType, label: string): Uint8Array {
  switch (dtype) {
    case 'float32':
    case 'complex64':
      return bytesOf(proto.floatData);
    case 'float64':
    case 'complex128':
      return bytesOf(proto.doubleData);
    case 'int64':
      return bytesOf(proto.int64Data);
    case 'uint64':
      return bytesOf(proto.uint64Data);
    case 'int32':
      return bytesOf(proto.int32Data);
    case 'uint32':
      return bytesOf(Uint32Array.from(proto.uint64Data ?? [], value => checkRange(Number(value), 0, 0xffffffff, label)));
    case 'int16':
      return bytesOf(Int16Array.from(proto.int32Data ?? [], value => checkRange(value, -0x8000, 0x7fff, label)));
    case 'uint16':
    case 'float16':
    case 'bfloat16':
      return bytesOf(Uint16Array.from(proto.int32Data ?? [], value => checkRange(value, 0, 0xffff, label)));
    default:
      return bytesOf(Uint8Array.from(proto.int32Data ?? [], value => checkRange(value, -0x80, 0xff, label)));
  }
}

function checkRange(value: number, lowest: number, highest: number, label: string): number {
  if (value < lowest || value > highest) throw malformed(`${label} has the element ${value}, outside the range of its dtype`);
  return value;
}

function bytesOf(
  values:
    | Float32Array
    | Float64Array
    | Int32Array
    | BigInt64Array
    | BigUint64Array
    | Uint32Array
    | Int16Array
    | Uint16Array
    | Uint8Array
    | undefined,
): Uint8Array {
  return values === undefined ? new Uint8Array(0) : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** The TensorProto of a constant, with `raw_data` (strings: `string_data`) or the location of its external data. */
export function encodeTensorProto(
  constant: Constant,
  name: string,
  onnxDType: number,
  external: ExternalLocation | undefined,
): TensorProto {
  const dims = BigInt64Array.from(constant.dims, BigInt);
  const common = { dims, dataType: onnxDType, name: name === '' ? undefined : name };
  if ('data' in constant) return { ...common, stringData: constant.data.map(text => encoder.encode(text)) };
  if (external === undefined) return { ...common, rawData: constant.bytes };
  return {
    ...common,
    externalData: [
      { key: 'location', value: external.location },
      { key: 'offset', value: String(external.offset) },
      { key: 'length', value: String(external.length) },
    ],
    dataLocation: DataLocation.EXTERNAL,
  };
}
