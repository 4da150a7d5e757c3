/** What can stand for a fully connected layer where an NPU only convolves? A Conv over the whole window that was flattened, or a 1×1 Conv. */
import { encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../../tensor/tensor.js';
import { getFloat, getInt, int, ints } from '../../ir/attribute.js';
import type { Constant, Node, ValueId } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type PatchNode, patch, type Ref } from '../patch.js';
import { any, constant, op, optional } from '../pattern.js';
import { type Decline, decline, type Match, type RewriteRule } from '../rule.js';
import { findFloat32, isRow, newInts } from './numbers.js';

/** What the Conv reads: [N, C, H, W], and the weight's columns seen as C·H·W. */
interface Window {
  readonly input: Ref;
  readonly dims: readonly [number, number, number];
  readonly before: readonly PatchNode[];
  /** The Flatten or Reshape that nothing reads any more. */
  readonly gone: readonly Node[];
}

/** The rule `gemm-conv`: y = x·W + b as Conv and Flatten. A Flatten from [N, C, H, W] that alone feeds it goes. */
export const gemmToConv: RewriteRule = {
  name: 'gemm-conv',
  proof: 'rounding',
  proofText:
    'Each output is one sum over all elements of a row, which a Conv whose kernel is the whole window computes; it may add in another order.',
  pattern: op('Gemm', { inputs: [any('x'), constant('weight'), optional(constant('bias'))] }),
  rewrite(match) {
    const weight = match.constant('weight');
    const bias = match.findConstant('bias');
    const reason = whyNot(match, weight, bias);
    if (reason !== undefined) return decline(reason, match.node);
    const rows = getInt(match.node, 'transB', 0) === 0 ? transpose(weight) : weight;
    const [outputs = 0, columns = 0] = rows.dims;
    const window = findWindow(match, columns);
    if ('kind' in window) return window;
    const kernel = { ...rows, dims: [outputs, ...window.dims] };
    const base = match.nameOf(match.output());
    const conv = newNode('Conv', {
      name: match.node.name,
      inputs: [
        window.input,
        newConstant(`${match.nameOf(match.value('weight'))}_as_conv`, kernel),
        ...(bias === undefined
          ? []
          : [newConstant(`${match.nameOf(match.value('bias'))}_as_conv`, { ...bias, dims: [outputs] } as Constant)]),
      ],
      attributes: {
        dilations: ints([1, 1]),
        group: int(1),
        kernel_shape: ints(window.dims.slice(1)),
        pads: ints([0, 0, 0, 0]),
        strides: ints([1, 1]),
      },
    });
    const flat = newNode('Reshape', {
      name: match.node.name && `${match.node.name}/flatten`,
      inputs: [outputOf(conv), newInts(`${base}_shape`, [rowsOf(match), outputs])],
    });
    return patch({ add: [...window.before, conv, flat], replace: [[match.output(), outputOf(flat)]], also: window.gone });
  },
};

function whyNot({ node, find, opset }: Match, weight: Constant, bias: Constant | undefined): string | undefined {
  if (opset < 5) return 'before opset 5 Reshape has its shape as an attribute';
  if (weight.dtype !== 'float32') return 'its weight is not float32';
  if (weight.dims.length !== 2) return `its weight has ${weight.dims.length} axes, not 2`;
  if (getInt(node, 'transA', 0) !== 0) return 'transA is set';
  if (getFloat(node, 'alpha', 1) !== 1 || getFloat(node, 'beta', 1) !== 1) return 'alpha or beta is not 1';
  if (find('bias') === undefined) return undefined;
  const outputs = weight.dims[getInt(node, 'transB', 0) === 0 ? 1 : 0];
  if (bias === undefined) return 'its bias is not constant';
  return outputs !== undefined && isRow(bias.dims, outputs) && bias.dtype === 'float32'
    ? undefined
    : 'its bias is not one float32 value per output';
}

/** The batch, or −1 where it is not known. */
function rowsOf(match: Match): number {
  const rows = match.type(match.output()).dims?.[0];
  return typeof rows === 'number' ? rows : -1;
}

/** Through the Flatten or Reshape before it, where that flattens a [N, C, H, W] whole; else the row is seen as [N, K, 1, 1]. */
function findWindow(match: Match, columns: number): Window | Decline {
  const x = match.value('x');
  const flatten = match.producerOf(x, 'Flatten') ?? match.producerOf(x, 'Reshape');
  const image = flatten?.inputs[0];
  const dims = image === undefined ? undefined : imageDims(match, image, x);
  if (image !== undefined && flatten !== undefined && dims !== undefined && dims[0] * dims[1] * dims[2] === columns)
    return { input: image, dims, before: [], gone: match.useCount(x) === 1 ? [flatten] : [] };
  if (match.type(x).dims?.length !== 2) return decline('its input is not known to have two axes', match.node);
  const rows = match.type(x).dims?.[0];
  const unflat = newNode('Reshape', {
    name: match.node.name && `${match.node.name}/unflatten`,
    inputs: [x, newInts(`${match.nameOf(match.output())}_image_shape`, [typeof rows === 'number' ? rows : -1, columns, 1, 1])],
  });
  return { input: outputOf(unflat), dims: [columns, 1, 1], before: [unflat], gone: [] };
}

/** [C, H, W] of a value with four known sizes (the batch may be unknown) that was flattened row by row. */
function imageDims(match: Match, image: ValueId, flat: ValueId): readonly [number, number, number] | undefined {
  const [dims, flatDims] = [match.type(image).dims, match.type(flat).dims];
  const [batch, channels, height, width] = dims ?? [];
  if (dims?.length !== 4 || flatDims?.length !== 2) return undefined;
  if (typeof channels !== 'number' || typeof height !== 'number' || typeof width !== 'number') return undefined;
  const sameRows = batch === flatDims[0] || (batch === undefined && flatDims[0] === undefined);
  return sameRows && flatDims[1] === channels * height * width ? [channels, height, width] : undefined;
}

function transpose(weight: Constant): RawTensor {
  const [rows = 0, columns = 0] = weight.dims;
  const from = findFloat32(weight)?.data ?? new Float32Array();
  const to = new Float32Array(from.length);
  for (let row = 0, at = 0; row < rows; row++) for (let column = 0; column < columns; column++) to[column * rows + row] = from[at++] ?? 0;
  return encodeRawTensor(makeTensor('float32', [columns, rows], to));
}
