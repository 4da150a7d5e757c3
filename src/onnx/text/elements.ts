/** Text form of the elements of a constant. Each number is written as the shortest text with the same bits. */
import { byteLength, DTYPES, type DType } from '../../tensor/dtype.js';
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from '../../tensor/numeric/half.js';
import { packInts, unpackInts } from '../../tensor/numeric/int4.js';
import { decodeRawTensor, makeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements } from '../../tensor/shape.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { Constant } from '../ir/model.js';

/** "1.0", "-0.5", "3e-7", "inf": always distinct from an integer. Nine digits are enough for every float32. */
export function formatFloat(value: number, round: (value: number) => number = Math.fround): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = Object.is(value, -0) ? '-0' : String(findShortest(value, round));
  return /[.e]/.test(text) ? text.replace('e+', 'e') : `${text}.0`;
}

function findShortest(value: number, round: (value: number) => number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (round(short) === value) return short;
  }
  return value;
}

/** The first `limit` elements. 8-bit and 4-bit floats are written as their bits, complex numbers as pairs. */
export function formatElements(constant: Constant, limit: number): string[] {
  if ('data' in constant) return constant.data.slice(0, limit).map(text => JSON.stringify(text));
  const { dtype, dims } = constant;
  if (dtype === 'int4' || dtype === 'uint4' || dtype === 'int2' || dtype === 'uint2') {
    return Array.from(unpackInts(dtype, constant.bytes, countElements(dims)).subarray(0, limit), String);
  }
  const elements = decodeRawTensor(constant).data.slice(0, limit);
  return Array.from<number | bigint | string, string>(elements as ArrayLike<number | bigint | string>, element =>
    formatElement(dtype, element),
  );
}

function formatElement(dtype: DType, element: number | bigint | string): string {
  if (typeof element !== 'number') return String(element);
  switch (dtype) {
    case 'float32':
    case 'complex64':
      return formatFloat(element);
    case 'float64':
    case 'complex128':
      return formatFloat(element, value => value);
    case 'float16':
      return formatFloat(decodeFloat16(element), value => decodeFloat16(encodeFloat16(value)));
    case 'bfloat16':
      return formatFloat(decodeBfloat16(element), value => decodeBfloat16(encodeBfloat16(value)));
    default:
      return String(element);
  }
}

/** The constant whose elements have these texts. @throws TensorError `length-mismatch`, `value-range`. */
export function parseElements(dtype: DType, dims: readonly number[], texts: readonly string[]): Constant {
  if (dtype === 'string') return makeTensor('string', dims, texts);
  if (dtype === 'int4' || dtype === 'uint4' || dtype === 'int2' || dtype === 'uint2') {
    if (texts.length !== countElements(dims)) throw wrongCount(dtype, dims, texts);
    return makeRawTensor(dtype, dims, packInts(dtype, texts.map(Number)));
  }
  const bytes = new Uint8Array(elementSize(dtype) * texts.length);
  const view = new DataView(bytes.buffer);
  for (const [index, text] of texts.entries()) writeElement(view, dtype, index, text);
  if (bytes.byteLength !== byteLength(dtype, countElements(dims))) throw wrongCount(dtype, dims, texts);
  return makeRawTensor(dtype, dims, bytes);
}

function wrongCount(dtype: DType, dims: readonly number[], texts: readonly string[]): TensorError {
  return new TensorError(
    'length-mismatch',
    `a ${dtype} tensor of shape [${dims.join(', ')}] needs ${countElements(dims)} elements, ${texts.length} are given`,
  );
}

/** Bytes per text: complex numbers take two texts, float4e2m1 is written by bytes. */
function elementSize(dtype: RawTensor['dtype']): number {
  const { bits } = DTYPES[dtype];
  if (dtype === 'complex64' || dtype === 'complex128') return bits / 16;
  return Math.max(1, bits / 8);
}

function writeElement(view: DataView, dtype: RawTensor['dtype'], index: number, text: string): void {
  const number = parseNumber(text);
  switch (dtype) {
    case 'float32':
    case 'complex64':
      view.setFloat32(4 * index, number, true);
      return;
    case 'float64':
    case 'complex128':
      view.setFloat64(8 * index, number, true);
      return;
    case 'float16':
      view.setUint16(2 * index, encodeFloat16(number), true);
      return;
    case 'bfloat16':
      view.setUint16(2 * index, encodeBfloat16(number), true);
      return;
    default:
      writeInteger(view, dtype, index, text);
  }
}

function parseNumber(text: string): number {
  if (text === 'nan') return Number.NaN;
  if (text === 'true') return 1;
  if (text.endsWith('inf')) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text === 'false' ? 0 : Number(text);
}

function writeInteger(view: DataView, dtype: RawTensor['dtype'], index: number, text: string): void {
  const bits = Math.max(8, DTYPES[dtype].bits);
  const signed = dtype.startsWith('int');
  const value = text === 'true' ? 1n : text === 'false' ? 0n : parseInteger(text, dtype);
  const fits = signed ? BigInt.asIntN(bits, value) === value : BigInt.asUintN(bits, value) === value;
  if (!fits) throw new TensorError('value-range', `${text} is not a valid ${dtype}`);
  for (let byte = 0; byte < bits / 8; byte++) view.setUint8((bits / 8) * index + byte, Number((value >> BigInt(8 * byte)) & 255n));
}

function parseInteger(text: string, dtype: string): bigint {
  if (!/^-?\d+$/.test(text)) throw new TensorError('value-range', `${text} is not a valid ${dtype}`);
  return BigInt(text);
}
