/** Rewrite rule `conv-transpose-depth-to-space`: a ConvTranspose whose kernel equals its stride becomes a 1×1 Conv and DepthToSpace. */
import { byteLength } from '../../../../tensor/dtype.js';
import type { RawTensor } from '../../../../tensor/tensor.js';
import { findInts, getInt, int, ints, string } from '../../../ir/attribute.js';
import type { Node } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch } from '../../../rewrite/patch.js';
import { any, op, optional } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findLayerConstant, isScaledAlong, type LayerConstant, moveConstant, takeElements } from '../../shared/layer-constant.js';
import { findQuantizer, requantize } from '../../shared/requantize.js';

/** From this opset on, DepthToSpace has the attribute mode; earlier versions always use DCR. */
const DEPTH_TO_SPACE_MODE = 11;

/** Elementwise operators without constants per channel: they commute with moving elements. */
const ELEMENTWISE = new Set(['Relu', 'LeakyRelu', 'Elu', 'Selu', 'Clip', 'Sigmoid', 'HardSigmoid', 'HardSwish', 'Tanh']);

/**
 * y[co, b·h + i, b·w + j] = Σ x[ci, h, w] · W[ci, co, i, j], one product per input channel. A 1×1 Conv with b²·C output channels (i·b + j)·C + co computes all
 * elements, and DepthToSpace (DCR) moves them to their places. An activation that is the only reader of the output moves before DepthToSpace, where NPUs fuse
 * it with the Conv and quantization gives it the same range. In a quantized graph, the integers of the weight move together with their scales, and the Conv
 * gets the output quantization of the ConvTranspose.
 */
export const convTransposeToDepthToSpace: RuleCode = {
  proofText:
    'If kernel and stride are equal, nothing overlaps: each output element is one sum over the input channels, which a 1×1 Conv computes from the same products; DepthToSpace moves the elements.',
  pattern: op('ConvTranspose', { inputs: [any('x'), any('weight'), optional(any('bias'))] }),
  rewrite(match) {
    const [weight, bias] = [findLayerConstant(match, match.find('weight')), findLayerConstant(match, match.find('bias'))];
    if (weight === undefined) return decline('its weight is neither constant nor quantized per tensor or per channel', match.node);
    const reason = declineReason(match, weight, bias);
    if (reason !== undefined) return decline(reason, match.node);
    const [, , block = 0] = weight.stored.dims;
    const { conv, add, unread } = makeConv(match, weight, bias);
    const activation = findActivation(match);
    const moved = activation === undefined ? [] : [moveActivation(activation, conv)];
    const end = activation?.outputs[0] ?? match.output();
    const requantized = requantize(outputOf(moved[0] ?? conv), findQuantizer(match, end), conv.name);
    const shuffle = newNode('DepthToSpace', {
      name: match.node.name,
      inputs: [outputOf(requantized.at(-1) ?? moved[0] ?? conv)],
      attributes: { blocksize: int(block), ...(match.opset < DEPTH_TO_SPACE_MODE ? {} : { mode: string('DCR') }) },
    });
    return patch({
      add: [...add, conv, ...moved, ...requantized, shuffle],
      replace: [[end, outputOf(shuffle)]],
      also: activation === undefined ? unread : [activation, ...unread],
    });
  },
};

interface MadeConv {
  readonly conv: PatchNode;
  readonly add: readonly PatchNode[];
  readonly unread: readonly Node[];
}

/** A quantized weight keeps its integers; the scale of a channel is repeated for each of the b² positions. */
function makeConv(match: Match, weight: LayerConstant, bias: LayerConstant | undefined): MadeConv {
  const [, outputs = 0, block = 0] = weight.stored.dims;
  const channels = Array.from({ length: block * block * outputs }, (_, index) => index % outputs);
  const suffix = 'as_conv';
  const moved = [
    moveConstant(match, weight, { stored: toConvWeight(weight.stored), suffix, axis: 0, channels }),
    ...(bias === undefined ? [] : [moveConstant(match, bias, { stored: takeElements(bias.stored, channels), suffix, axis: 0, channels })]),
  ];
  const conv = newNode('Conv', {
    name: match.node.name === '' ? '' : `${match.node.name}/conv`,
    inputs: [match.value('x'), ...moved.map(({ ref }) => ref)],
    attributes: { dilations: ints([1, 1]), group: int(1), kernel_shape: ints([1, 1]), pads: ints([0, 0, 0, 0]), strides: ints([1, 1]) },
  });
  return { conv, add: moved.flatMap(({ add }) => add), unread: moved.flatMap(one => one.unread) };
}

function declineReason({ node, find }: Match, weight: LayerConstant, bias: LayerConstant | undefined): string | undefined {
  const { dims } = weight.stored;
  const kernel = dims.slice(2);
  if (dims.length !== 4) return `the rank of its weight is ${dims.length}, not 4`;
  if (kernel[0] !== kernel[1]) return `its kernel is [${kernel.join(', ')}]; DepthToSpace needs a square kernel`;
  const strides = findInts(node, 'strides') ?? [1, 1];
  if (strides.length !== 2 || strides.some((stride, axis) => stride !== kernel[axis]))
    return `its strides are [${strides.join(', ')}] and its kernel is [${kernel.join(', ')}]: they must be equal`;
  if ((findInts(node, 'dilations') ?? []).some(dilation => dilation !== 1)) return 'it has dilations';
  if ((findInts(node, 'pads') ?? []).some(pad => pad !== 0)) return 'it has pads';
  if ((findInts(node, 'output_padding') ?? []).some(pad => pad !== 0)) return 'it has output_padding';
  if (findInts(node, 'output_shape') !== undefined) return 'it has output_shape';
  if (getInt(node, 'group', 1) !== 1) return `it has ${getInt(node, 'group', 1)} groups`;
  if (!isScaledAlong(weight, 1)) return 'its weight has a scale per input channel';
  if (find('bias') === undefined) return undefined;
  if (bias === undefined) return 'its bias is not constant';
  return bias.stored.dims[0] === dims[1] && isScaledAlong(bias, 0) ? undefined : 'its bias does not match its weight';
}

/** [ci, co, i, j] → [(i·b + j)·C + co, ci, 1, 1], for any dtype. */
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

/** The activation that is the only reader of the ConvTranspose, if its bounds are constant. */
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
