/** Simplify rule `fuse-gemm`: MatMul by a constant matrix and Add of one value per column become Gemm. */
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, constant, op } from '../../rewrite/pattern.js';
import { decline, type RewriteRule } from '../../rewrite/rule.js';

export const fuseGemm: RewriteRule = {
  name: 'fuse-gemm',
  proof: 'rounding',
  proofText: 'Gemm adds its bias to the same products; it may do so before or after they are summed.',
  pattern: op('Add', {
    inputs: [op('MatMul', { name: 'product', inputs: [any('x'), constant('weight')] }), constant('bias')],
    order: 'commutative',
  }),
  rewrite(match) {
    const x = match.type(match.value('x'));
    const weight = match.constant('weight').dims;
    const bias = match.constant('bias').dims;
    if (x.dims?.length !== 2 || weight.length !== 2) return decline('its operands are not two matrices', match.node);
    if (x.dtype !== 'float32') return decline('its input is not float32', match.node);
    const columns = weight[1];
    const fits = bias.at(-1) === columns && bias.slice(0, -1).every(dim => dim === 1) && bias.length <= 2;
    if (!fits) return decline('the addend is not one value per column', match.node);
    const gemm = newNode('Gemm', { name: match.node.name, inputs: [match.value('x'), match.value('weight'), match.value('bias')] });
    return patch({ add: [gemm], replace: [[match.output(), outputOf(gemm)]] });
  },
};
