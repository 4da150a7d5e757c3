/** Simplify rules `fold-channel-mul`, `-div`, `-add` and `-sub`: arithmetic with constants per channel is folded into the preceding linear node. */
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

/** The constant as one value per output channel. The channels are axis 1. */
function perChannel(match: Match): Float64Array | Decline {
  const constantOperand = match.constant('operand');
  const values = readFloats(constantOperand);
  const channels = countChannels(match, match.inner('linear'));
  const [linearOutput] = match.inner('linear').outputs;
  const rank = linearOutput === undefined ? undefined : match.type(linearOutput).dims?.length;
  if (values === undefined) return decline('the constant is not float16, float32 or float64', match.node);
  if (channels === undefined || rank === undefined) return decline('the rank or the number of channels is not known', match.node);
  if (values.length === 1 && constantOperand.dims.length <= rank) return new Float64Array(channels).fill(values[0] ?? 0);
  if (!isAlongChannels(constantOperand, rank, channels))
    return decline(`the constant ${formatDims(constantOperand.dims)} is not one value per channel`, match.node);
  return values;
}

/** Whether `operand`, aligned at the last axis of a tensor of `rank`, varies along axis 1 only. */
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
    proofText: `${opType} by a constant per channel is folded into weight and bias of the preceding node; sums and products round in another order.`,
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
