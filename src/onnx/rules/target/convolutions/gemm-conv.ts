/** Rewrite rule `gemm-conv`: a fully connected layer becomes a Conv over the window that was flattened, or a 1×1 Conv. */
import { byteLength } from '../../../../tensor/dtype.js';
import type { RawTensor } from '../../../../tensor/tensor.js';
import { getFloat, getInt, int, ints } from '../../../ir/attribute.js';
import type { Node, ValueId } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op, optional } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { isRow, newInts } from '../../shared/constants.js';
import { findLayerConstant, isScaledAlong, type LayerConstant, moveConstant } from '../../shared/layer-constant.js';
import { findDequantizer, findQuantizer, isQuantizedAlike, requantize } from '../../shared/requantize.js';

/** The input of the Conv, [N, C, H, W], and [C, H, W], into which the columns of the weight are divided. */
interface Window {
  readonly input: Ref;
  readonly dims: readonly [number, number, number];
  readonly before: readonly PatchNode[];
  /** Nodes that become unread, such as the Flatten or Reshape. */
  readonly unread: readonly Node[];
}

/** y = x·W + b as Conv and Reshape. A preceding Flatten of [N, C, H, W] that only feeds the Gemm is removed. */
export const gemmToConv: RuleCode = {
  proofText:
    'Each output is one sum over all elements of a row, which a Conv whose kernel covers the whole window computes; it may add in another order.',
  pattern: op('Gemm', { inputs: [any('x'), any('weight'), optional(any('bias'))] }),
  rewrite(match) {
    const [weight, bias] = [findLayerConstant(match, match.find('weight')), findLayerConstant(match, match.find('bias'))];
    if (weight === undefined) return decline('its weight is neither constant nor quantized per tensor or per channel', match.node);
    const reason = declineReason(match, weight, bias);
    if (reason !== undefined) return decline(reason, match.node);
    const rows = getInt(match.node, 'transB', 0) === 0 ? transpose(weight.stored) : weight.stored;
    const [outputs = 0, columns = 0] = rows.dims;
    const window = findWindow(match, columns);
    if ('kind' in window) return window;
    const moved = [
      moveConstant(match, weight, { stored: { ...rows, dims: [outputs, ...window.dims] }, suffix: 'as_conv', axis: 0 }),
      ...(bias === undefined
        ? []
        : [moveConstant(match, bias, { stored: { ...bias.stored, dims: [outputs] }, suffix: 'as_conv', axis: 0 })]),
    ];
    const conv = newNode('Conv', {
      name: match.node.name,
      inputs: [window.input, ...moved.map(({ ref }) => ref)],
      attributes: {
        dilations: ints([1, 1]),
        group: int(1),
        kernel_shape: ints(window.dims.slice(1)),
        pads: ints([0, 0, 0, 0]),
        strides: ints([1, 1]),
      },
    });
    const requantized = requantize(outputOf(conv), findQuantizer(match, match.output()), match.node.name);
    const flat = newNode('Reshape', {
      name: match.node.name && `${match.node.name}/flatten`,
      inputs: [outputOf(requantized.at(-1) ?? conv), newInts(`${match.nameOf(match.output())}_shape`, [rowsOf(match), outputs])],
    });
    return patch({
      add: [...window.before, ...moved.flatMap(({ add }) => add), conv, ...requantized, flat],
      replace: [[match.output(), outputOf(flat)]],
      also: [...window.unread, ...moved.flatMap(({ unread }) => unread)],
    });
  },
};

function declineReason({ node, find, opset }: Match, weight: LayerConstant, bias: LayerConstant | undefined): string | undefined {
  const { dtype, dims } = weight.stored;
  if (opset < 5) return 'it needs opset 5, from which on Reshape takes its shape as an input';
  if (weight.quantized === undefined && dtype !== 'float32') return 'its weight is not float32';
  if (dims.length !== 2) return `the rank of its weight is ${dims.length}, not 2`;
  if (getInt(node, 'transA', 0) !== 0) return 'transA is set';
  if (getFloat(node, 'alpha', 1) !== 1 || getFloat(node, 'beta', 1) !== 1) return 'alpha or beta is not 1';
  const axis = getInt(node, 'transB', 0) === 0 ? 1 : 0;
  if (!isScaledAlong(weight, axis)) return 'its weight has a scale per input column';
  if (find('bias') === undefined) return undefined;
  if (bias === undefined) return 'its bias is not constant';
  const isReal = bias.quantized !== undefined || bias.stored.dtype === 'float32';
  return isReal && isRow(bias.stored.dims, dims[axis] ?? 0) && isScaledAlong(bias, bias.stored.dims.length - 1)
    ? undefined
    : 'its bias is not one float32 value per output';
}

/** The batch size, or −1 if it is not known. */
function rowsOf(match: Match): number {
  const rows = match.type(match.output()).dims?.[0];
  return typeof rows === 'number' ? rows : -1;
}

/** The input of the preceding Flatten or Reshape if that flattens [N, C, H, W] to rows; else the rows as [N, K, 1, 1]. */
function findWindow(match: Match, columns: number): Window | Decline {
  const x = match.value('x');
  const flattened = findFlattened(match, x);
  const dims = flattened && imageDims(match, flattened.image, x);
  if (flattened !== undefined && dims !== undefined && dims[0] * dims[1] * dims[2] === columns)
    return { input: flattened.image, dims, before: [], unread: flattened.unread };
  if (match.type(x).dims?.length !== 2) return decline('the rank of its input is not known to be 2', match.node);
  const rows = match.type(x).dims?.[0];
  const name = match.node.name && `${match.node.name}/unflatten`;
  const unflat = newNode('Reshape', {
    name,
    inputs: [x, newInts(`${match.nameOf(match.output())}_image_shape`, [typeof rows === 'number' ? rows : -1, columns, 1, 1])],
  });
  const requantized = requantize(outputOf(unflat), findDequantizer(match, x), name);
  return { input: outputOf(requantized.at(-1) ?? unflat), dims: [columns, 1, 1], before: [unflat, ...requantized], unread: [] };
}

interface Flattened {
  readonly image: ValueId;
  /** Nodes to remove, readers first. */
  readonly unread: readonly Node[];
}

/** The input of a Flatten before `x`; a QuantizeLinear and DequantizeLinear with the scale of that input may lie between. */
function findFlattened(match: Match, x: ValueId): Flattened | undefined {
  const dequantizer = findDequantizer(match, x);
  const quantizer = dequantizer && match.producerOf(dequantizer.inputs[0], 'QuantizeLinear');
  const flat = quantizer === undefined ? x : quantizer.inputs[0];
  const flatten = match.producerOf(flat, 'Flatten') ?? match.producerOf(flat, 'Reshape');
  const image = flatten?.inputs[0];
  if (flatten === undefined || image === undefined) return undefined;
  if (dequantizer === undefined || quantizer === undefined) return { image, unread: [flatten] };
  const source = findDequantizer(match, image);
  return source !== undefined && isQuantizedAlike(match, source, dequantizer) && isQuantizedAlike(match, source, quantizer)
    ? { image, unread: [dequantizer, quantizer, flatten] }
    : undefined;
}

/** [C, H, W] of a value with known channels, height and width that was flattened per batch element. */
function imageDims(match: Match, image: ValueId, flat: ValueId): readonly [number, number, number] | undefined {
  const [dims, flatDims] = [match.type(image).dims, match.type(flat).dims];
  const [batch, channels, height, width] = dims ?? [];
  if (dims?.length !== 4 || flatDims?.length !== 2) return undefined;
  if (typeof channels !== 'number' || typeof height !== 'number' || typeof width !== 'number') return undefined;
  const sameRows = batch === flatDims[0] || (batch === undefined && flatDims[0] === undefined);
  return sameRows && flatDims[1] === channels * height * width ? [channels, height, width] : undefined;
}

function transpose(weight: RawTensor): RawTensor {
  const [rows = 0, columns = 0] = weight.dims;
  const size = byteLength(weight.dtype, 1);
  const bytes = new Uint8Array(weight.bytes.byteLength);
  for (let row = 0, from = 0; row < rows; row++)
    for (let column = 0; column < columns; column++, from += size)
      bytes.set(weight.bytes.subarray(from, from + size), (column * rows + row) * size);
  return { ...weight, dims: [columns, rows], bytes };
}
