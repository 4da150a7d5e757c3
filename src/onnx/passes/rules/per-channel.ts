/** How are weights scaled and shifted per output channel? In double precision, rounded to single once. */
import { decodeRawTensor, encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { countElements } from '../../../tensor/shape.js';
import { makeTensor } from '../../../tensor/tensor.js';
import { getInt } from '../../ir/attribute.js';
import type { Constant, Node } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type Patch, patch } from '../../rewrite/patch.js';
import { type Decline, decline, type Match } from '../../rewrite/rule.js';

export const LINEAR = ['Conv', 'ConvTranspose', 'Gemm'];

/** y·scale + shift per output channel, to be folded into the linear node before it. */
export interface Affine {
  readonly scale: Float64Array;
  readonly shift: Float64Array;
}

/** The elements of a float32 constant as doubles; undefined for other types. */
export function readFloats(constant: Constant | undefined): Float64Array | undefined {
  return constant?.dtype === 'float32' ? Float64Array.from(decodeRawTensor({ ...constant, dtype: 'float32' }).data) : undefined;
}

/** Where the output channels of a linear node's weight lie: `axis` of the weight, and how many there are. */
interface Channels {
  readonly count: number;
  /** The output channel of a weight element by its index. */
  readonly channelOf: (index: number) => number;
}

function findChannels(node: Node, weight: Constant): Channels | undefined {
  const { dims } = weight;
  const size = countElements(dims);
  const [first = 0, second = 1] = dims;
  if (node.opType === 'Conv') return { count: first, channelOf: index => Math.floor(index / (size / first)) };
  if (node.opType === 'Gemm') {
    return getInt(node, 'transB', 0) === 0
      ? { count: second, channelOf: index => index % second }
      : { count: first, channelOf: index => Math.floor(index / second) };
  }
  const group = getInt(node, 'group', 1);
  const kernel = size / first / second;
  const perGroup = first / group;
  return {
    count: second * group,
    channelOf: index => Math.floor(index / kernel / second / perGroup) * second + (Math.floor(index / kernel) % second),
  };
}

/** How many output channels the linear node of a match has. */
export function countChannels(match: Match, linear: Node): number | undefined {
  const weight = match.constant('weight');
  return weight.dims.length < 2 ? undefined : findChannels(linear, weight)?.count;
}

/** The patch that makes `linear` compute `affine` of its result, in place of the match's root. */
export function foldAffine(match: Match, linear: Node, affine: Affine): Patch | Decline {
  const weight = match.constant('weight');
  const [elements, bias] = [readFloats(weight), readFloats(match.findConstant('bias'))];
  if (![...affine.scale, ...affine.shift].every(value => Number.isFinite(Math.fround(value))))
    return decline('a factor or offset is not finite', match.node);
  if (elements === undefined) return decline('the weight is not float32', linear);
  if (match.find('bias') !== undefined && bias === undefined) return decline('the bias is not a float32 constant', linear);
  const channels = findChannels(linear, weight);
  if (channels === undefined || channels.count !== affine.scale.length) return decline('the channels do not fit', linear);
  if (linear.opType === 'Gemm' && bias !== undefined && bias.length !== channels.count)
    return decline('the bias of the Gemm is not one value per channel', linear);
  if (linear.opType === 'Gemm' && (gemmFactor(linear, 'alpha') !== 1 || gemmFactor(linear, 'beta') !== 1))
    return decline('alpha or beta of the Gemm is not 1', linear);
  const scaled = Float32Array.from(elements, (value, index) => value * (affine.scale[channels.channelOf(index)] ?? 1));
  const shifted = Float32Array.from(affine.shift, (shift, index) => (bias?.[index] ?? 0) * (affine.scale[index] ?? 1) + shift);
  return patchLinear(match, linear, makeConstant(weight.dims, scaled), makeConstant([channels.count], shifted), affine);
}

function gemmFactor(node: Node, name: string): number {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'float' ? attribute.value : 1;
}

const makeConstant = (dims: readonly number[], data: Float32Array): Constant => encodeRawTensor(makeTensor('float32', dims, data));

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
