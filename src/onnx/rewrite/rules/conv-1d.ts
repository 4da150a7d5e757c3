/** What can stand for a one-dimensional Conv, where an NPU takes four axes only? A two-dimensional one of height 1. */
import type { RawTensor } from '../../../tensor/tensor.js';
import { findInts, getString, ints } from '../../ir/attribute.js';
import type { Attribute } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type PatchNode, patch, type Ref } from '../patch.js';
import { any, constant, op, optional } from '../pattern.js';
import { decline, type Match, type RewriteRule } from '../rule.js';
import { newInts } from './numbers.js';

/** Squeeze and Unsqueeze take their axes as an input from opset 13. */
const AXES_INPUT = 13;

/** The rule `conv-1d`: Unsqueeze to [N, C, 1, W], Conv, Squeeze. */
export const conv1dTo2d: RewriteRule = {
  name: 'conv-1d',
  proof: 'rounding',
  proofText: 'A height of 1 changes no product and no sum; a kernel for two dimensions may add in another order.',
  pattern: op('Conv', { inputs: [any('x'), constant('weight'), optional(any('bias'))] }),
  rewrite(match) {
    const weight = match.constant('weight');
    if (weight.dims.length !== 3) return decline(`its weight has ${weight.dims.length} axes, not 3`, match.node);
    if (weight.dtype === 'string') return decline('its weight is text', match.node);
    const { name } = match.node;
    const raised = reshape(match, 'Unsqueeze', match.value('x'), name && `${name}/unsqueeze`);
    const conv = newNode('Conv', { name, inputs: [outputOf(raised), ...operands(match, weight)], attributes: attributesOf(match, weight) });
    const lowered = reshape(match, 'Squeeze', outputOf(conv), name && `${name}/squeeze`);
    return patch({ add: [raised, conv, lowered], replace: [[match.output(), outputOf(lowered)]] });
  },
};

function operands(match: Match, weight: RawTensor): readonly Ref[] {
  const [outputs = 0, inputs = 0, kernel = 0] = weight.dims;
  const raised = newConstant(`${match.nameOf(match.value('weight'))}_2d`, { ...weight, dims: [outputs, inputs, 1, kernel] });
  const bias = match.find('bias');
  return bias === undefined ? [raised] : [raised, bias];
}

function attributesOf({ node }: Match, weight: RawTensor): ReadonlyMap<string, Attribute> {
  const first = (name: string, otherwise: number): number => findInts(node, name)?.[0] ?? otherwise;
  const [start = 0, end = 0] = findInts(node, 'pads') ?? [];
  const padding: readonly (readonly [string, Attribute])[] =
    getString(node, 'auto_pad', 'NOTSET') === 'NOTSET' ? [['pads', ints([0, start, 0, end])]] : [];
  return new Map([
    ...node.attributes,
    ['kernel_shape', ints([1, weight.dims[2] ?? 1])] as const,
    ['strides', ints([1, first('strides', 1)])] as const,
    ['dilations', ints([1, first('dilations', 1)])] as const,
    ...padding,
  ]);
}

function reshape(match: Match, opType: 'Unsqueeze' | 'Squeeze', x: Ref, name: string): PatchNode {
  if (match.opset < AXES_INPUT) return newNode(opType, { name, inputs: [x], attributes: { axes: ints([2]) } });
  return newNode(opType, { name, inputs: [x, newInts(`${match.nameOf(match.output())}_${opType.toLowerCase()}_axes`, [2])] });
}
