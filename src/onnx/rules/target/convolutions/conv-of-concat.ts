/** Rewrite rule `conv-of-concat`: a Conv of concatenated channels becomes one Conv per part and a sum. */
import { byteLength } from '../../../../tensor/dtype.js';
import type { RawTensor } from '../../../../tensor/tensor.js';
import { getInt } from '../../../ir/attribute.js';
import type { Node } from '../../../ir/model.js';
import { newConstant, newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op, optional } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findLayerConstant } from '../../shared/layer-constant.js';

/**
 * Conv(Concat(a, b); W) = Conv(a; W_a) + Conv(b; W_b). The first part keeps the bias. Parts with different ranges
 * (features and a mask, as in Mask Scoring R-CNN's IoU head) then get separate scales.
 */
export const convOfConcatToSum: RuleCode = {
  proofText: 'A convolution is a sum over input channels, here computed part by part; the parts are rounded before they are added.',
  pattern: op('Conv', { inputs: [op('Concat', { name: 'join' }), any('weight'), optional(any('bias'))] }),
  rewrite(match) {
    const join = match.inner('join');
    const weight = match.findConstant('weight');
    if (weight === undefined) return decline(describeMissingWeight(match), match.node);
    if (weight.dtype === 'string') return decline('its weight has dtype string', match.node);
    if (getInt(match.node, 'group', 1) !== 1) return decline(`it has ${getInt(match.node, 'group', 1)} groups`, match.node);
    const channels = partsOf(match, join, weight);
    if (typeof channels === 'string') return decline(channels, match.node);
    const convs = channels.map((count, index) => {
      const start = channels.slice(0, index).reduce((sum, before) => sum + before, 0);
      return makePart(match, join, weight, { index, start, count });
    });
    const sums = addUp(match, convs);
    const last = sums.at(-1);
    if (last === undefined) return decline('its Concat has one input', match.node);
    return patch({ add: [...convs, ...sums], replace: [[match.output(), outputOf(last)]] });
  },
};

/** In a quantized graph the sum is rounded once; separate parts would each be rounded before they are added. */
function describeMissingWeight(match: Match): string {
  const isQuantized = findLayerConstant(match, match.find('weight')) !== undefined;
  return isQuantized
    ? 'its weight is quantized, so each part would be rounded separately: rewrite before quantization'
    : 'its weight is not constant';
}

/** Channels of each input of the Concat, or the reason why they are not known. */
function partsOf(match: Match, join: Node, weight: RawTensor): readonly number[] | string {
  const rank = weight.dims.length;
  const axis = getInt(join, 'axis', 1);
  if (axis !== 1 && axis !== 1 - rank) return `its Concat is along axis ${axis}, not along the channels`;
  const counts = join.inputs.map(input => (input === undefined ? undefined : match.type(input).dims?.[1]));
  if (!counts.every(count => typeof count === 'number')) return 'the channels of an input of its Concat are not known';
  return counts.reduce((sum, count) => sum + count, 0) === weight.dims[1] ? counts : 'the channels of its Concat do not match its weight';
}

function makePart(match: Match, join: Node, weight: RawTensor, part: { index: number; start: number; count: number }): PatchNode {
  const { index, start, count } = part;
  const bias = index === 0 ? match.find('bias') : undefined;
  const inputs: readonly (Ref | undefined)[] = [
    join.inputs[index],
    newConstant(`${match.nameOf(match.value('weight'))}_part${index}`, takeChannels(weight, start, count)),
    ...(bias === undefined ? [] : [bias]),
  ];
  return newNode('Conv', { name: match.node.name && `${match.node.name}/part${index}`, inputs, attributes: match.node.attributes });
}

function addUp(match: Match, convs: readonly PatchNode[]): readonly PatchNode[] {
  const sums: PatchNode[] = [];
  for (const [index, conv] of convs.slice(1).entries()) {
    const before = sums.at(-1) ?? convs[0];
    if (before === undefined) return [];
    const name = index === convs.length - 2 ? match.node.name : match.node.name && `${match.node.name}/sum${index}`;
    sums.push(newNode('Add', { name, inputs: [outputOf(before), outputOf(conv)] }));
  }
  return sums;
}

/** The slice [outputs, start … start + count, kernel …] of a weight of any dtype. */
function takeChannels(weight: RawTensor, start: number, count: number): RawTensor {
  const [outputs = 0, channels = 0, ...kernel] = weight.dims;
  const size = byteLength(
    weight.dtype,
    kernel.reduce((product, dim) => product * dim, 1),
  );
  const bytes = new Uint8Array(outputs * count * size);
  for (let output = 0; output < outputs; output++) {
    const from = (output * channels + start) * size;
    bytes.set(weight.bytes.subarray(from, from + count * size), output * count * size);
  }
  return { ...weight, dims: [outputs, count, ...kernel], bytes };
}
