/** How are weights scaled and shifted per output channel? In double precision, rounded to single once. */
import { encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { countElements } from '../../../tensor/shape.js';
import { makeTensor } from '../../../tensor/tensor.js';
import { getInt } from '../../ir/attribute.js';
import type { Constant, Node } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type Patch, patch } from '../../rewrite/patch.js';
import { type Decline, decline, type Match } from '../../rewrite/rule.js';
import { findFloat32, isRow } from '../../rewrite/rules/numbers.js';

export const LINEAR = ['Conv', 'ConvTranspose', 'Gemm'];

/** y·scale + shift per output channel, to be folded into the linear node before it. */
export interface Affine {
  readonly scale: Float64Array;
  readonly shift: Float64Array;
}

/** The elements of a float32 constant as doubles, for vectors; undefined for other types. */
export function readFloats(constant: Constant | undefined): Float64Array | undefined {
  const elements = findFloat32(constant)?.data;
  return elements && Float64Array.from(elements);
}

/** Where the output channels of a linear node's weight lie: it is [outer, channels, inner], one block of channels per outer index. */
interface Channels {
  /** Output channels in all. */
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

/** Each weight times the factor of its output channel, in double precision, rounded once. Loops without calls: a backbone has tens of millions of weights. */
function scaleWeights(elements: Float32Array, { outer, perOuter, inner, firstAt }: Channels, scale: Float64Array): Float32Array {
  const scaled = new Float32Array(elements.length);
  for (let block = 0, index = 0; block < outer; block++) {
    const first = firstAt(block);
    for (let channel = 0; channel < perOuter; channel++) {
      const factor = scale[first + channel] ?? 1;
      for (const end = index + inner; index < end; index++) scaled[index] = (elements[index] as number) * factor;
    }
  }
  return scaled;
}

/** How many output channels the linear node of a match has. */
export function countChannels(match: Match, linear: Node): number | undefined {
  const weight = match.constant('weight');
  return weight.dims.length < 2 ? undefined : findChannels(linear, weight)?.count;
}

/** The patch that makes `linear` compute `affine` of its result, in place of the match's root. */
export function foldAffine(match: Match, linear: Node, affine: Affine): Patch | Decline {
  const weight = match.constant('weight');
  const [elements, bias] = [findFloat32(weight)?.data, readFloats(match.findConstant('bias'))];
  if (![...affine.scale, ...affine.shift].every(value => Number.isFinite(Math.fround(value))))
    return decline('a factor or offset is not finite', match.node);
  if (elements === undefined) return decline('the weight is not float32', linear);
  if (match.find('bias') !== undefined && bias === undefined) return decline('the bias is not a float32 constant', linear);
  const channels = findChannels(linear, weight);
  if (channels === undefined || channels.count !== affine.scale.length) return decline('the channels do not fit', linear);
  const biasDims = match.findConstant('bias')?.dims ?? [];
  if (linear.opType === 'Gemm' && bias !== undefined && !isRow(biasDims, channels.count))
    return decline('the bias of the Gemm is not one value per channel', linear);
  if (linear.opType === 'Gemm' && (gemmFactor(linear, 'alpha') !== 1 || gemmFactor(linear, 'beta') !== 1))
    return decline('alpha or beta of the Gemm is not 1', linear);
  const scaled = scaleWeights(elements, channels, affine.scale);
  if (!scaled.every(Number.isFinite)) return decline('a product of weight and factor is not finite', linear);
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
