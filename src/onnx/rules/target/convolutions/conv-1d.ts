/** Rewrite rule `conv-1d`: a one-dimensional Conv becomes a two-dimensional one of height 1, for targets that support four axes only. */
import { findInts, getString, ints } from '../../../ir/attribute.js';
import type { Attribute } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op, optional } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newInts } from '../../shared/constants.js';
import { findLayerConstant, isScaledAlong, moveConstant } from '../../shared/layer-constant.js';
import { findDequantizer, findQuantizer, requantize } from '../../shared/requantize.js';

/** From this opset on, Squeeze and Unsqueeze take their axes as an input. */
const AXES_INPUT = 13;

/** Unsqueeze to [N, C, 1, W], Conv, Squeeze. */
export const conv1dTo2d: RuleCode = {
  proofText: 'A height of 1 changes no product and no sum; a two-dimensional kernel may add in another order.',
  pattern: op('Conv', { inputs: [any('x'), any('weight'), optional(any('bias'))] }),
  rewrite(match) {
    const weight = findLayerConstant(match, match.find('weight'));
    if (weight === undefined) return decline('its weight is neither constant nor quantized per tensor or per channel', match.node);
    if (weight.stored.dims.length !== 3) return decline(`its weight has ${weight.stored.dims.length} axes, not 3`, match.node);
    if (!isScaledAlong(weight, 0)) return decline('its weight has a scale per input channel', match.node);
    const { name } = match.node;
    const [outputs = 0, inputs = 0, kernel = 0] = weight.stored.dims;
    const moved = moveConstant(match, weight, { stored: { ...weight.stored, dims: [outputs, inputs, 1, kernel] }, suffix: '2d', axis: 0 });
    const raised = reshape(match, 'Unsqueeze', match.value('x'), name && `${name}/unsqueeze`);
    const requantizedInput = requantize(outputOf(raised), findDequantizer(match, match.value('x')), name && `${name}/unsqueeze`);
    const bias = match.find('bias');
    const operands: readonly Ref[] = bias === undefined ? [moved.ref] : [moved.ref, bias];
    const image = outputOf(requantizedInput.at(-1) ?? raised);
    const conv = newNode('Conv', { name, inputs: [image, ...operands], attributes: attributesOf(match, kernel) });
    const requantized = requantize(outputOf(conv), findQuantizer(match, match.output()), name);
    const lowered = reshape(match, 'Squeeze', outputOf(requantized.at(-1) ?? conv), name && `${name}/squeeze`);
    return patch({
      add: [raised, ...requantizedInput, ...moved.add, conv, ...requantized, lowered],
      replace: [[match.output(), outputOf(lowered)]],
      also: moved.unread,
    });
  },
};

function attributesOf({ node }: Match, kernel: number): ReadonlyMap<string, Attribute> {
  const first = (name: string, otherwise: number): number => findInts(node, name)?.[0] ?? otherwise;
  const [start = 0, end = 0] = findInts(node, 'pads') ?? [];
  const padding: readonly (readonly [string, Attribute])[] =
    getString(node, 'auto_pad', 'NOTSET') === 'NOTSET' ? [['pads', ints([0, start, 0, end])]] : [];
  return new Map([
    ...node.attributes,
    ['kernel_shape', ints([1, kernel])] as const,
    ['strides', ints([1, first('strides', 1)])] as const,
    ['dilations', ints([1, first('dilations', 1)])] as const,
    ...padding,
  ]);
}

function reshape(match: Match, opType: 'Unsqueeze' | 'Squeeze', x: Ref, name: string): PatchNode {
  if (match.opset < AXES_INPUT) return newNode(opType, { name, inputs: [x], attributes: { axes: ints([2]) } });
  return newNode(opType, { name, inputs: [x, newInts(`${match.nameOf(match.output())}_${opType.toLowerCase()}_axes`, [2])] });
}
