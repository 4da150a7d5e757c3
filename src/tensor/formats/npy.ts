/** The NumPy .npy format. Source: numpy.lib.format, versions 1.0 to 3.0. */

import { byteLength, DTYPES } from '../dtype.js';
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from '../raw-tensor.js';
import { countElements, formatShape, type Shape } from '../shape.js';
import { makeStridedCopy } from '../strided-copy.js';
import { makeTensor, type RawTensor, type Tensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { ByteCursor } from './byte-cursor.js';
import { parseNpyHeader } from './npy-header.js';

const MAGIC = '\x93NUMPY';
const MAX_HEADER_BYTES = 1 << 16;
const ALIGNMENT = 64;

/** Type letter and item size for every dtype of NumPy. */
const DESCRIPTORS = {
  bool: '|b1',
  int8: '|i1',
  uint8: '|u1',
  int16: '<i2',
  uint16: '<u2',
  int32: '<i4',
  uint32: '<u4',
  int64: '<i8',
  uint64: '<u8',
  float16: '<f2',
  float32: '<f4',
  float64: '<f8',
  complex64: '<c8',
  complex128: '<c16',
} as const;

type NumpyDType = keyof typeof DESCRIPTORS;

const BY_LETTERS = new Map<string, NumpyDType>(
  Object.entries(DESCRIPTORS).map(([dtype, letters]) => [letters.slice(1), dtype as NumpyDType]),
);

/**
 * Decodes an array of any byte order and of C or Fortran order as a row-major tensor; shares `bytes` if it is aligned and in order.
 * Text ('U') and byte strings ('S', decoded as Latin-1) become string tensors.
 * @throws TensorError `npy-malformed`, `npy-unsupported` (objects, dates, records, long doubles), `truncated`.
 */
export function decodeNpy(bytes: Uint8Array): Tensor {
  const cursor = new ByteCursor(bytes, 'the .npy array');
  if (cursor.takeLatin1(6) !== MAGIC) throw new TensorError('npy-malformed', 'not a .npy array: it does not start with \\x93NUMPY');
  const [major, minor] = [cursor.takeUint8(), cursor.takeUint8()];
  if (major < 1 || major > 3)
    throw new TensorError('npy-unsupported', `.npy version ${major}.${minor} is not supported; supported are 1.0 to 3.0`);
  const headerBytes = major === 1 ? cursor.takeUint16() : cursor.takeUint32();
  if (headerBytes > MAX_HEADER_BYTES)
    throw new TensorError('npy-malformed', `the .npy header has ${headerBytes} bytes, the limit is ${MAX_HEADER_BYTES}`);
  const header = parseNpyHeader(major === 3 ? cursor.takeUtf8(headerBytes) : cursor.takeLatin1(headerBytes));
  const descriptor = parseDescriptor(header.descr);
  const count = countElements(header.shape);
  const size = count * descriptor.itemBytes;
  if (!Number.isSafeInteger(size)) throw new TensorError('npy-malformed', `a .npy array ${formatShape(header.shape)} is too large`);
  let body = cursor.take(size);
  if (descriptor.order === 'big') body = swapBytes(body, descriptor.unitBytes);
  if (header.fortranOrder && header.shape.length > 1) body = toRowMajor(body, header.shape, descriptor.itemBytes);
  return descriptor.dtype === 'string'
    ? makeTensor('string', header.shape, decodeStrings(body, count, descriptor))
    : decodeRawTensor(makeRawTensor(descriptor.dtype, header.shape, body));
}

/** Encodes an array (version 1.0, little-endian, C order) byte for byte as NumPy does. @throws TensorError `npy-unsupported` for dtypes that NumPy does not have. */
export function encodeNpy(tensor: Tensor): Uint8Array {
  const [descr, body] = tensor.dtype === 'string' ? encodeStrings(tensor) : [getDescriptor(tensor.dtype), encodeRawTensor(tensor).bytes];
  const shape = tensor.dims.length === 1 ? `(${tensor.dims[0]},)` : `(${tensor.dims.join(', ')})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`;
  // NumPy pads the first dim to 21 digits so that it can grow in place.
  const growth = tensor.dims.length === 0 ? 0 : 21 - String(tensor.dims[0]).length;
  const unpadded = 10 + text.length + growth + 1;
  const headerBytes = (Math.floor(unpadded / ALIGNMENT) + 1) * ALIGNMENT - 10;
  const bytes = new Uint8Array(10 + headerBytes + body.length);
  const view = new DataView(bytes.buffer);
  bytes.set(Buffer.from(MAGIC, 'latin1'));
  bytes.set([1, 0], 6);
  view.setUint16(8, headerBytes, true);
  bytes.set(Buffer.from(`${text.padEnd(headerBytes - 1)}\n`, 'latin1'), 10);
  bytes.set(body, 10 + headerBytes);
  return bytes;
}

interface Descriptor {
  readonly dtype: NumpyDType | 'string';
  readonly order: 'little' | 'big';
  readonly itemBytes: number;
  /** The unit of byte swapping: half an item for complex numbers, a character for text. */
  readonly unitBytes: number;
}

function parseDescriptor(descr: string): Descriptor {
  const order = descr.startsWith('>') ? 'big' : 'little';
  const letters = descr.replace(/^[<>|=]/, '');
  const text = /^([US])(\d{1,9})$/.exec(letters);
  if (text !== null) {
    const unitBytes = text[1] === 'U' ? 4 : 1;
    return { dtype: 'string', order, itemBytes: unitBytes * Number(text[2]), unitBytes };
  }
  const dtype = letters === '?' ? 'bool' : BY_LETTERS.get(letters);
  if (dtype === undefined) throw new TensorError('npy-unsupported', `NumPy type '${descr}' is not supported`);
  const itemBytes = DTYPES[dtype].bits / 8;
  return { dtype, order, itemBytes, unitBytes: dtype.startsWith('complex') ? itemBytes / 2 : itemBytes };
}

function getDescriptor(dtype: RawTensor['dtype']): string {
  if (!(dtype in DESCRIPTORS))
    throw new TensorError('npy-unsupported', `NumPy has no dtype ${dtype}: convert the tensor, or store its bytes as uint8`);
  return DESCRIPTORS[dtype as NumpyDType];
}

function swapBytes(bytes: Uint8Array, unitBytes: number): Uint8Array {
  const swapped = Buffer.from(new Uint8Array(bytes).buffer);
  if (unitBytes === 2) swapped.swap16();
  if (unitBytes === 4) swapped.swap32();
  if (unitBytes === 8) swapped.swap64();
  return swapped;
}

function toRowMajor(bytes: Uint8Array, shape: Shape, itemBytes: number): Uint8Array {
  let step = 1;
  const strides = shape.map(dim => {
    const stride = step;
    step *= dim;
    return stride;
  });
  return makeStridedCopy(bytes, { itemBytes, offset: 0, dims: shape, strides });
}

function decodeStrings(body: Uint8Array, count: number, { itemBytes, unitBytes }: Descriptor): string[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return Array.from({ length: count }, (_, index) => {
    const codes: number[] = [];
    for (let at = index * itemBytes; at < (index + 1) * itemBytes; at += unitBytes)
      codes.push(unitBytes === 4 ? view.getUint32(at, true) : view.getUint8(at));
    while (codes.at(-1) === 0) codes.pop();
    if (codes.some(code => code > 0x10ffff)) throw new TensorError('npy-malformed', `element ${index} has a character outside Unicode`);
    return codes.map(code => String.fromCodePoint(code)).join('');
  });
}

function encodeStrings(tensor: Tensor<'string'>): [descr: string, body: Uint8Array] {
  const texts = tensor.data.map(text => Array.from(text, character => character.codePointAt(0) ?? 0));
  const width = Math.max(1, ...texts.map(codes => codes.length));
  const codes = new Uint32Array(byteLength('uint32', texts.length * width) / 4);
  for (const [index, text] of texts.entries()) codes.set(text, index * width);
  return [`<U${width}`, new Uint8Array(codes.buffer)];
}
