/** Folding of a factor and an offset per output channel into the weight and bias of a Conv, ConvTranspose or Gemm, computed in double precision and rounded once. */
import { decodeFloat16Array, encodeFloat16Array } from '../../../tensor/numeric/half.js';
import { decodeRawTensor, encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { countElements } from '../../../tensor/shape.js';
import { makeTensor } from '../../../tensor/tensor.js';
import { getInt } from '../../ir/attribute.js';
import type { Constant, Node } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type Patch, patch } from '../../rewrite/patch.js';
import { type Decline, decline, type Match } from '../../rewrite/rule.js';
import { isRow } from './constants.js';

export const LINEAR = ['Conv', 'ConvTranspose', 'Gemm'];

/** y·scale + shift per output channel of a linear node. */
export interface Affine {
  readonly scale: Float64Array;
  readonly shift: Float64Array;
}

/** The elements of a float constant as doubles, for small constants; undefined for other dtypes. */
export function readFloats(constant: Constant | undefined): Float64Array | undefined {
  const elements = readElements(constant);
  return elements && Float64Array.from(elements);
}

/** Single precision is returned as a view: a backbone has tens of millions of weights. bfloat16 is not supported, because ONNX Runtime has no kernels to verify the result. */
function readElements(constant: Constant | undefined): Float32Array | Float64Array | undefined {
  switch (constant?.dtype) {
    case 'float32':
      return decodeRawTensor({ ...constant, dtype: 'float32' }).data;
    case 'float64':
      return decodeRawTensor({ ...constant, dtype: 'float64' }).data;
    case 'float16':
      return decodeFloat16Array(decodeRawTensor({ ...constant, dtype: 'float16' }).data);
    default:
      return undefined;
  }
}

/** `values` rounded to `dtype`. */
function makeConstant(dtype: Constant['dtype'], dims: readonly number[], values: Float32Array | Float64Array): Constant {
  if (dtype === 'float16') return encodeRawTensor(makeTensor(dtype, dims, encodeFloat16Array(values)));
  if (dtype === 'float64') return encodeRawTensor(makeTensor(dtype, dims, Float64Array.from(values)));
  return encodeRawTensor(makeTensor('float32', dims, values instanceof Float32Array ? values : Float32Array.from(values)));
}

/** The largest finite value of each dtype. */
const LARGEST: Readonly<Partial<Record<Constant['dtype'], number>>> = {
  float16: 65_504,
  float32: 2 ** 128 - 2 ** 104,
  float64: Number.MAX_VALUE,
};

/** Position of the output channels in the weight of a linear node: [outer, channels, inner], with one block of channels per outer index. */
interface Channels {
  /** Total number of output channels. */
  readonly count: number;
  readonly outer: number;
  readonly perOuter: number;
  readonly inner: number;
  /** The first output channel at an outer index. */
  readonly firstAt: (outer: number) => number;
}

function findChannels(node: Node, weight: Constant): Channels | undefined {
  const { dims } = weight;
  const [first = 0, second = 1] = dims;
  const size = countElements(dims);
  const slices = (inner: number): Channels => ({ count: first, outer: 1, perOuter: first, inner, firstAt: () => 0 });
  if (node.opType === 'Conv') return slices(size / first);
  if (node.opType === 'Gemm') {
    return getInt(node, 'transB', 0) === 0 ? { count: second, outer: first, perOuter: second, inner: 1, firstAt: () => 0 } : slices(second);
  }
  const group = getInt(node, 'group', 1);
  const perGroup = first / group;
  const firstAt = (input: number): number => Math.floor(input / perGroup) * second;
  return { count: second * group, outer: first, perOuter: second, inner: size / first / second, firstAt };
}

/** Multiplies each weight by the factor of its output channel, in double precision. The inner loops make no calls: a backbone has tens of millions of weights. */
function scaleWeights<T extends Float32Array | Float64Array>(
  scaled: T,
  elements: Float32Array | Float64Array,
  { outer, perOuter, inner, firstAt }: Channels,
  scale: Float64Array,
): T {
  for (let block = 0, index = 0; block < outer; block++) {
    const first = firstAt(block);
    for (let channel = 0; channel < perOuter; channel++) {
      const factor = scale[first + channel] ?? 1;
      for (const end = index + inner; index < end; index++) scaled[index] = (elements[index] as number) * factor;
    }
  }
  return scaled;
}

/** Number of output channels of the linear node of a match. */
export function countChannels(match: Match, linear: Node): number | undefined {
  const weight = match.constant('weight');
  return weight.dims.length < 2 ? undefined : findChannels(linear, weight)?.count;
}

/** The patch that folds `affine` into `linear` and replaces the root of the match. */
export function foldAffine(match: Match, linear: Node, affine: Affine): Patch | Decline {
  const weight = match.constant('weight');
  const [elements, bias] = [readElements(weight), readFloats(match.findConstant('bias'))];
  const largest = LARGEST[weight.dtype] ?? 0;
  const fits = (value: number): boolean => Math.abs(value) <= largest;
  if (elements === undefined) return decline('the weight is not float16, float32 or float64', linear);
  if (![...affine.scale, ...affine.shift].every(fits)) return decline('a factor or offset is not finite', match.node);
  if (match.find('bias') !== undefined && bias === undefined) return decline('the bias is not a float constant', linear);
  const channels = findChannels(linear, weight);
  if (channels === undefined || channels.count !== affine.scale.length)
    return decline('the number of channels does not match the weight', linear);
  const biasDims = match.findConstant('bias')?.dims ?? [];
  if (linear.opType === 'Gemm' && bias !== undefined && !isRow(biasDims, channels.count))
    return decline('the bias of the Gemm is not one value per channel', linear);
  if (linear.opType === 'Gemm' && (gemmFactor(linear, 'alpha') !== 1 || gemmFactor(linear, 'beta') !== 1))
    return decline('alpha or beta of the Gemm is not 1', linear);
  const buffer = weight.dtype === 'float32' ? new Float32Array(elements.length) : new Float64Array(elements.length);
  const scaled = scaleWeights(buffer, elements, channels, affine.scale);
  const shifted = Float64Array.from(affine.shift, (shift, index) => (bias?.[index] ?? 0) * (affine.scale[index] ?? 1) + shift);
  if (!scaled.every(fits) || !shifted.every(fits)) return decline('a product of weight and factor is not finite', linear);
  const [newWeight, newBias] = [makeConstant(weight.dtype, weight.dims, scaled), makeConstant(weight.dtype, [channels.count], shifted)];
  return patchLinear(match, linear, newWeight, newBias, affine);
}

function gemmFactor(node: Node, name: string): number {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'float' ? attribute.value : 1;
}

function patchLinear(match: Match, linear: Node, weight: Constant, bias: Constant, affine: Affine): Patch {
  const weightValue = match.value('weight');
  const unchanged = affine.scale.every(scale => scale === 1);
  const weightName = match.nameOf(weightValue);
  const biasValue = match.find('bias');
  const biasName = biasValue === undefined ? `${weightName}_bias` : match.nameOf(biasValue);
  const node = newNode(linear.opType, {
    name: linear.name,
    inputs: [match.value('x'), unchanged ? weightValue : newConstant(weightName, weight), newConstant(biasName, bias)],
    attributes: linear.attributes,
  });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}
