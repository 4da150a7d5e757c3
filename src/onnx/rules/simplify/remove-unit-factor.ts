/** Simplify rules that remove a multiplication or division by 1, and an addition or subtraction of 0, if nothing is broadcast. */
import type { DType } from '../../../tensor/dtype.js';
import { encodeBfloat16, encodeFloat16 } from '../../../tensor/numeric/half.js';
import { decodeRawTensor } from '../../../tensor/raw-tensor.js';
import type { Constant } from '../../ir/model.js';
import { patch } from '../../rewrite/patch.js';
import { any, constant, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { formatDims } from '../../shape-inference/context/node-context.js';

function rewriteFactor(match: Match): ReturnType<RewriteRule['rewrite']> {
  return isAllOnes(match.constant('factor')) ? passUnbroadcast(match, 'factor') : decline('the factor is not 1', match.node);
}

function rewriteTerm(match: Match): ReturnType<RewriteRule['rewrite']> {
  return isAllZero(match.constant('term')) ? passUnbroadcast(match, 'term') : decline('the term is not 0', match.node);
}

/** Replaces the result by "x". */
function passUnbroadcast(match: Match, operand: string): ReturnType<RewriteRule['rewrite']> {
  const [x, output] = [match.type(match.value('x')), match.type(match.output())];
  const same = x.dims !== undefined && x.dims.length === output.dims?.length && x.dims.every((dim, axis) => dim === output.dims?.[axis]);
  if (!same) return decline(`the ${operand} may broadcast its input ${formatDims(x.dims)}`, match.node);
  return patch({ replace: [[match.output(), match.value('x')]] });
}

/** The stored form of 1 by dtype; float16 and bfloat16 as bits. */
const ONES: Readonly<Partial<Record<DType, number>>> = {
  float32: 1,
  float64: 1,
  float16: encodeFloat16(1),
  bfloat16: encodeBfloat16(1),
  int8: 1,
  uint8: 1,
  int16: 1,
  uint16: 1,
  int32: 1,
  uint32: 1,
  int64: 1,
  uint64: 1,
};

function isAllOnes(factor: Constant): boolean {
  const one = ONES[factor.dtype];
  if (one === undefined || 'data' in factor) return false;
  const { data } = decodeRawTensor(factor);
  return Array.from(data as ArrayLike<number | bigint>).every(value => Number(value) === one);
}

/** −0 is none: x − (−0) and x + (−0) are not removed. */
function isAllZero(term: Constant): boolean {
  return ONES[term.dtype] !== undefined && !('data' in term) && term.bytes.every(byte => byte === 0);
}

const proofText = 'x × 1 and x ÷ 1 are x for every float, infinities and signed zeros included.';

export const removeMultiplyByOne: RewriteRule = {
  name: 'remove-multiply-by-one',
  proof: 'exact',
  proofText,
  pattern: op('Mul', { inputs: [any('x'), constant('factor')], order: 'commutative' }),
  rewrite: rewriteFactor,
};

export const removeDivideByOne: RewriteRule = {
  name: 'remove-divide-by-one',
  proof: 'exact',
  proofText,
  pattern: op('Div', { inputs: [any('x'), constant('factor')] }),
  rewrite: rewriteFactor,
};

export const removeAddZero: RewriteRule = {
  name: 'remove-add-zero',
  proof: 'rounding',
  proofText: 'x + 0 is x, except that −0 + 0 is 0.',
  pattern: op('Add', { inputs: [any('x'), constant('term')], order: 'commutative' }),
  rewrite: rewriteTerm,
};

export const removeSubtractZero: RewriteRule = {
  name: 'remove-subtract-zero',
  proof: 'exact',
  proofText: 'x − 0 is x for every float, infinities and signed zeros included.',
  pattern: op('Sub', { inputs: [any('x'), constant('term')] }),
  rewrite: rewriteTerm,
};
