/** Simplify rules `remove-multiply-by-one` and `remove-divide-by-one`: multiplication or division by 1 without broadcasting is removed. */
import type { DType } from '../../../tensor/dtype.js';
import { encodeBfloat16, encodeFloat16 } from '../../../tensor/numeric/half.js';
import { decodeRawTensor } from '../../../tensor/raw-tensor.js';
import type { Constant } from '../../ir/model.js';
import { patch } from '../../rewrite/patch.js';
import { any, constant, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { formatDims } from '../../shape-inference/context/node-context.js';

function rewriteFactor(match: Match): ReturnType<RewriteRule['rewrite']> {
  const [x, output] = [match.type(match.value('x')), match.type(match.output())];
  if (!isAllOnes(match.constant('factor'))) return decline('the factor is not 1', match.node);
  const same = x.dims !== undefined && x.dims.length === output.dims?.length && x.dims.every((dim, axis) => dim === output.dims?.[axis]);
  if (!same) return decline(`the factor may broadcast its input ${formatDims(x.dims)}`, match.node);
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
