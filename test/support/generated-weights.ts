/** Weights of untrained networks, made by a rule that any language can follow; ../shared/fullsize holds recorded outputs for them. */
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { countElements, type Shape } from '../../src/tensor/shape.js';
import { makeTensor, type RawTensor, type Tensor } from '../../src/tensor/tensor.js';

const ENCODER = new TextEncoder();
/** A global looked up per element is slow inside jest's contexts. */
const { imul } = Math;

/** What another implementation computed: every `every`-th element of an output, and its standard deviation. */
export interface RecordedOutput {
  readonly name: string;
  readonly shape: readonly number[];
  readonly std: number;
  readonly every: number;
  readonly samples: readonly number[];
}

/** A network with generated weights, and its outputs for generated inputs. */
export interface RecordedNetwork {
  readonly state: readonly { readonly key: string; readonly shape: readonly number[] }[];
  readonly outputs: readonly RecordedOutput[];
}

/** `count` doubles in [−1, 1), by the key's FNV-1a hash and a counter through the finalizer of MurmurHash3. */
export function uniform(key: string, count: number): Float64Array {
  return fillUniform(key, new Float64Array(count), { scale: 1, offset: 0 });
}

interface Line {
  readonly scale: number;
  readonly offset: number;
}

/** Writes offset + scale · u for each u of the rule; computed in double precision, rounded by the array. */
function fillUniform<A extends Float32Array | Float64Array>(key: string, values: A, { scale, offset }: Line): A {
  let hash = 0x811c9dc5;
  for (const byte of ENCODER.encode(key)) hash = imul(hash ^ byte, 0x01000193);
  for (let i = 0; i < values.length; i++) {
    let z = (hash + imul(i, 0x9e3779b9)) | 0;
    z = imul(z ^ (z >>> 16), 0x85ebca6b);
    z = imul(z ^ (z >>> 13), 0xc2b2ae35);
    values[i] = offset + scale * (((z ^ (z >>> 16)) >>> 0) / 2 ** 31 - 1);
  }
  return values;
}

/** The input `name`: rounded to float32, then times `factor`, a power of two. */
export function generatedInput(name: string, dims: Shape, factor = 1): Tensor<'float32'> {
  return makeTensor('float32', dims, fillUniform(name, new Float32Array(countElements(dims)), { scale: factor, offset: 0 }));
}

/** The tensor that the rule gives to a key of a state dict. */
export function generatedWeight(key: string, dims: Shape): RawTensor {
  const count = countElements(dims);
  if (key.endsWith('num_batches_tracked')) return encodeRawTensor(makeTensor('int64', dims, new BigInt64Array(count)));
  return encodeRawTensor(makeTensor('float32', dims, fillUniform(key, new Float32Array(count), ruleFor(key, dims))));
}

function ruleFor(key: string, dims: Shape): Line {
  if (dims.length >= 2) return { scale: Math.sqrt(6 / countElements(dims.slice(1))), offset: 0 };
  if (key.endsWith('running_var')) return { scale: 0.2, offset: 1 };
  if (key.endsWith('bn3.weight')) return { scale: 0.1, offset: 0.25 };
  if (key.endsWith('weight')) return { scale: 0.1, offset: 1 };
  return { scale: 0.05, offset: 0 };
}

export function generatedState(keys: Iterable<{ readonly key: string; readonly shape: Shape }>): Map<string, RawTensor> {
  const state = new Map<string, RawTensor>();
  for (const { key, shape } of keys) state.set(key, generatedWeight(key, shape));
  return state;
}
