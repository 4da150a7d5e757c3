/** When does a multiplication or division change nothing? When it is by 1, and broadcasts nothing. */
import { decodeRawTensor } from '../../../tensor/raw-tensor.js';
import type { Constant } from '../../ir/model.js';
import { patch } from '../../rewrite/patch.js';
import { any, constant, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { formatDims } from '../../shape-inference/node-context.js';

function rewriteFactor(match: Match): ReturnType<RewriteRule['rewrite']> {
  const [x, output] = [match.type(match.value('x')), match.type(match.output())];
  if (!isAllOnes(match.constant('factor'))) return decline('the factor is not 1', match.node);
  const same = x.dims !== undefined && x.dims.length === output.dims?.length && x.dims.every((dim, axis) => dim === output.dims?.[axis]);
  if (!same) return decline(`the factor may broadcast ${formatDims(x.dims)}`, match.node);
  return patch({ replace: [[match.output(), match.value('x')]] });
}

function isAllOnes(factor: Constant): boolean {
  if (factor.dtype !== 'float32' && factor.dtype !== 'int64' && factor.dtype !== 'int32') return false;
  const { data } = decodeRawTensor(factor);
  return Array.from(data as ArrayLike<number | bigint>).every(value => Number(value) === 1);
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
