/** Converts the tensors of a checkpoint to float32: 16-bit floats exactly, float64 with rounding. */
import { decodeBfloat16Array, decodeFloat16Array } from '../../tensor/numeric/half.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import type { StateDict } from './state-dict.js';

export interface Float32State {
  readonly state: StateDict;
  /** Number of converted tensors, by original dtype. */
  readonly converted: Readonly<Record<string, number>>;
}

/** Tensors of other dtypes, such as counters, are kept. */
export function toFloat32State(checkpoint: StateDict): Float32State {
  const converted: Record<string, number> = {};
  const state = new Map<string, RawTensor>();
  for (const [key, tensor] of checkpoint) {
    const data = toFloat32(tensor);
    if (data !== undefined) converted[tensor.dtype] = (converted[tensor.dtype] ?? 0) + 1;
    state.set(key, data === undefined ? tensor : encodeRawTensor(makeTensor('float32', tensor.dims, data)));
  }
  return { state, converted };
}

function toFloat32(raw: RawTensor): Float32Array | undefined {
  const { dims, bytes } = raw;
  switch (raw.dtype) {
    case 'float16':
      return decodeFloat16Array(decodeRawTensor({ dtype: 'float16', dims, bytes }).data);
    case 'bfloat16':
      return decodeBfloat16Array(decodeRawTensor({ dtype: 'bfloat16', dims, bytes }).data);
    case 'float64':
      return Float32Array.from(decodeRawTensor({ dtype: 'float64', dims, bytes }).data);
    default:
      return undefined;
  }
}
