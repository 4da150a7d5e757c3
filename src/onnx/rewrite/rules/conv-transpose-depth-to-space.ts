/** What can stand for a ConvTranspose whose kernel is its stride, which some NPUs refuse? A 1×1 Conv and DepthToSpace, for nothing overlaps. */
import { byteLength } from '../../../tensor/dtype.js';
import type { RawTensor } from '../../../tensor/tensor.js';
import { findInts, getInt, int, ints, string } from '../../ir/attribute.js';
import type { Constant, Node } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type PatchNode, patch, type Ref } from '../patch.js';
import { any, constant, op, optional } from '../pattern.js';
import { decline, type Match, type RewriteRule } from '../rule.js';

/** DepthToSpace has its mode from opset 11; before, what is now DCR is all there is. */
const DEPTH_TO_SPACE_MODE = 11;

/** Element by element, without a constant per channel: before or after moving elements is the same. */
const ELEMENTWISE = new Set(['Relu', 'LeakyRelu', 'Elu', 'Selu', 'Clip', 'Sigmoid', 'HardSigmoid', 'HardSwish', 'Tanh']);

/**
 * The rule `conv-transpose-depth-to-space`: y[co, b·h + i, b·w + j] = Σ x[ci, h, w] · W[ci, co, i, j], one product per input channel, so a 1×1 Conv with
 * b²·C outputs, (i·b + j)·C + co, computes every element, and DepthToSpace (DCR) puts them in their places. An activation that alone reads the output moves
 * in front of DepthToSpace, where NPUs fuse it with the Conv and the quantizer places it as it did.
 */
export const convTransposeToDepthToSpace: RewriteRule = {
  name: 'conv-transpose-depth-to-space',
  proof: 'exact',
  proofText:
    'Where kernel and stride are equal nothing overlaps: each output element is one sum over the input channels, which a 1×1 Conv computes from the same products; DepthToSpace moves the elements.',
  pattern: op('ConvTranspose', { inputs: [any('x'), constant('weight'), optional(constant('bias'))] }),
  rewrite(match) {
    const [weight, bias] = [match.constant('weight'), match.findConstant('bias')];
    const reason = whyNot(match, weight);
    if (reason !== undefined) return decline(reason, match.node);
    if (weight.dtype === 'string' || bias?.dtype === 'string') return decline('its weight or bias is text', match.node);
    const [, , block = 0] = weight.dims;
    const conv = makeConv(match, weight, bias);
    const activation = findActivation(match);
    const moved = activation === undefined ? [] : [moveActivation(activation, conv)];
    const shuffle = newNode('DepthToSpace', {
      name: match.node.name,
      inputs: [outputOf(moved[0] ?? conv)],
      attributes: { blocksize: int(block), ...(match.opset < DEPTH_TO_SPACE_MODE ? {} : { mode: string('DCR') }) },
    });
    return patch({
      add: [conv, ...moved, shuffle],
      replace: [[activation?.outputs[0] ?? match.output(), outputOf(shuffle)]],
      also: activation === undefined ? [] : [activation],
    });
  },
};

function makeConv(match: Match, weight: RawTensor, bias: RawTensor | undefined): PatchNode {
  const [, , block = 0] = weight.dims;
  const constantFrom = (input: string, value: RawTensor): Ref => newConstant(`${match.nameOf(match.value(input))}_as_conv`, value);
  const biases = bias === undefined ? [] : [constantFrom('bias', repeat(bias, block * block))];
  return newNode('Conv', {
    name: match.node.name === '' ? '' : `${match.node.name}/conv`,
    inputs: [match.value('x'), constantFrom('weight', toConvWeight(weight)), ...biases],
    attributes: { dilations: ints([1, 1]), group: int(1), kernel_shape: ints([1, 1]), pads: ints([0, 0, 0, 0]), strides: ints([1, 1]) },
  });
}

function whyNot({ node, findConstant, find }: Match, weight: Constant): string | undefined {
  const [kernel, dims] = [weight.dims.slice(2), weight.dims];
  if (dims.length !== 4) return `its weight has ${dims.length} dimensions, not 4`;
  if (kernel[0] !== kernel[1]) return `its kernel is [${kernel.join(', ')}]; DepthToSpace needs a square`;
  const strides = findInts(node, 'strides') ?? [1, 1];
  if (strides.length !== 2 || strides.some((stride, axis) => stride !== kernel[axis]))
    return `its strides are [${strides.join(', ')}], its kernel is [${kernel.join(', ')}]: they have to be equal`;
  if ((findInts(node, 'dilations') ?? []).some(dilation => dilation !== 1)) return 'it is dilated';
  if ((findInts(node, 'pads') ?? []).some(pad => pad !== 0)) return 'it pads';
  if ((findInts(node, 'output_padding') ?? []).some(pad => pad !== 0)) return 'it has output_padding';
  if (findInts(node, 'output_shape') !== undefined) return 'it has output_shape';
  if (getInt(node, 'group', 1) !== 1) return `it has ${getInt(node, 'group', 1)} groups`;
  if (find('bias') !== undefined && findConstant('bias')?.dims[0] !== dims[1]) return 'its bias does not fit its weight';
  return undefined;
}

/** [ci, co, i, j] → [(i·b + j)·C + co, ci, 1, 1], whatever the elements are. */
function toConvWeight(weight: RawTensor): RawTensor {
  const [inputs = 0, outputs = 0, block = 0] = weight.dims;
  const size = byteLength(weight.dtype, 1);
  const bytes = new Uint8Array(weight.bytes.byteLength);
  let from = 0;
  for (let ci = 0; ci < inputs; ci++)
    for (let co = 0; co < outputs; co++)
      for (let place = 0; place < block * block; place++, from += size)
        bytes.set(weight.bytes.subarray(from, from + size), ((place * outputs + co) * inputs + ci) * size);
  return { ...weight, dims: [block * block * outputs, inputs, 1, 1], bytes };
}

/** One bias per output channel becomes one per channel and place in the block. */
function repeat(bias: RawTensor, times: number): RawTensor {
  const bytes = new Uint8Array(bias.bytes.byteLength * times);
  for (let place = 0; place < times; place++) bytes.set(bias.bytes, place * bias.bytes.byteLength);
  return { ...bias, dims: [(bias.dims[0] ?? 0) * times], bytes };
}

/** The activation that alone reads the ConvTranspose, with its bounds constant. */
function findActivation({ output, soleReader, constantOf }: Match): Node | undefined {
  const reader = soleReader(output());
  if (reader?.domain !== '' || !ELEMENTWISE.has(reader.opType)) return undefined;
  const [data, ...bounds] = reader.inputs;
  return data === output() && bounds.every(bound => bound === undefined || constantOf(bound) !== undefined) ? reader : undefined;
}

function moveActivation(activation: Node, conv: PatchNode): PatchNode {
  const [, ...bounds] = activation.inputs;
  return newNode(activation.opType, { name: activation.name, inputs: [outputOf(conv), ...bounds], attributes: activation.attributes });
}
