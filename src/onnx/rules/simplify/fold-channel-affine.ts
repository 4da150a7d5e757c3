/** How do Mul and Add by constants per channel vanish? Into the weights and the bias of the linear node before them. */
import type { Constant } from '../../ir/model.js';
import { any, constant, op, optional, type Pattern } from '../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { formatDims } from '../../shape-inference/context/node-context.js';
import { type Affine, countChannels, foldAffine, LINEAR, readFloats } from '../shared/per-channel.js';

const linear = op(LINEAR, { name: 'linear', inputs: [any('x'), constant('weight'), optional(constant('bias'))] });

function pattern(opType: string, order: 'given' | 'commutative'): Pattern {
  return op(opType, { inputs: [linear, constant('operand')], order });
}

function rewrite(toAffine: (operand: Float64Array) => Affine): RewriteRule['rewrite'] {
  return match => {
    const operand = perChannel(match);
    if ('kind' in operand) return operand;
    return foldAffine(match, match.inner('linear'), toAffine(operand));
  };
}

/** The constant as one value per output channel; channels are axis 1. */
function perChannel(match: Match): Float64Array | Decline {
  const constantOperand = match.constant('operand');
  const values = readFloats(constantOperand);
  const channels = countChannels(match, match.inner('linear'));
  const [linearOutput] = match.inner('linear').outputs;
  const rank = linearOutput === undefined ? undefined : match.type(linearOutput).dims?.length;
  if (values === undefined) return decline('the constant is of no float that is folded', match.node);
  if (channels === undefined || rank === undefined) return decline('rank or channels are not known', match.node);
  if (values.length === 1 && constantOperand.dims.length <= rank) return new Float64Array(channels).fill(values[0] ?? 0);
  if (!isAlongChannels(constantOperand, rank, channels))
    return decline(`the constant ${formatDims(constantOperand.dims)} is not one value per channel`, match.node);
  return values;
}

/** Does `operand`, aligned at the last axis of `rank`, vary over axis 1 alone? */
function isAlongChannels(operand: Constant, rank: number, channels: number): boolean {
  const offset = rank - operand.dims.length;
  return operand.dims.every((dim, axis) => (axis + offset === 1 ? dim === channels : dim === 1)) && offset <= 1 && offset >= 0;
}

const zeros = (length: number): Float64Array => new Float64Array(length);
const ones = (length: number): Float64Array => new Float64Array(length).fill(1);

function affineRule(
  name: string,
  opType: string,
  order: 'given' | 'commutative',
  toAffine: (operand: Float64Array) => Affine,
): RewriteRule {
  return {
    name,
    proof: 'rounding',
    proofText: `${opType} by a constant per channel joins weight and bias of the node before it; sums and products round in another order.`,
    pattern: pattern(opType, order),
    rewrite: rewrite(toAffine),
  };
}

export const CHANNEL_AFFINE_RULES: readonly RewriteRule[] = [
  affineRule('fold-channel-mul', 'Mul', 'commutative', operand => ({ scale: operand, shift: zeros(operand.length) })),
  affineRule('fold-channel-div', 'Div', 'given', operand => ({ scale: operand.map(value => 1 / value), shift: zeros(operand.length) })),
  affineRule('fold-channel-add', 'Add', 'commutative', operand => ({ scale: ones(operand.length), shift: operand })),
  affineRule('fold-channel-sub', 'Sub', 'given', operand => ({ scale: ones(operand.length), shift: operand.map(value => -value) })),
];
