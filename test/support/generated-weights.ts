/** Which weights does a network have that nobody trained? Those of a rule that any language can follow; ../shared/fullsize holds recorded outputs for them. */
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { countElements, type Shape } from '../../src/tensor/shape.js';
import { makeTensor, type RawTensor, type Tensor } from '../../src/tensor/tensor.js';

const ENCODER = new TextEncoder();

/** `count` doubles in [−1, 1), by the key's FNV-1a hash and a counter through the finalizer of MurmurHash3. */
export function uniform(key: string, count: number): Float64Array {
  let hash = 0x811c9dc5;
  for (const byte of ENCODER.encode(key)) hash = Math.imul(hash ^ byte, 0x01000193);
  return Float64Array.from({ length: count }, (_, i) => {
    let z = (hash + Math.imul(i, 0x9e3779b9)) | 0;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 31 - 1;
  });
}

/** The input `name`, rounded to float32, then times `factor`. */
export function generatedInput(name: string, dims: Shape, factor = 1): Tensor<'float32'> {
  return makeTensor(
    'float32',
    dims,
    Float32Array.from(uniform(name, countElements(dims)), u => Math.fround(u) * factor),
  );
}

/** The tensor that the rule gives to a key of a state dict. */
export function generatedWeight(key: string, dims: Shape): RawTensor {
  if (key.endsWith('num_batches_tracked')) return encodeRawTensor(makeTensor('int64', dims, new BigInt64Array(countElements(dims))));
  const value = ruleFor(key, dims);
  return encodeRawTensor(makeTensor('float32', dims, Float32Array.from(uniform(key, countElements(dims)), value)));
}

function ruleFor(key: string, dims: Shape): (u: number) => number {
  if (dims.length >= 2) {
    const bound = Math.sqrt(6 / countElements(dims.slice(1)));
    return u => u * bound;
  }
  if (key.endsWith('running_var')) return u => 1 + 0.2 * u;
  if (key.endsWith('bn3.weight')) return u => 0.25 + 0.1 * u;
  if (key.endsWith('weight')) return u => 1 + 0.1 * u;
  return u => 0.05 * u;
}

export function generatedState(keys: Iterable<{ readonly key: string; readonly shape: Shape }>): Map<string, RawTensor> {
  const state = new Map<string, RawTensor>();
  for (const { key, shape } of keys) state.set(key, generatedWeight(key, shape));
  return state;
}
