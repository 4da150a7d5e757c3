/** Which piecewise linear function stands for a sigmoid or SiLU where a target has no exponential? */
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../../rewrite/rule.js';
import { HARD_SWISH_OPSET, newSwishGate } from '../../shared/swish-gate.js';

/** The rule `sigmoid-hard`. */
export const hardenSigmoid: RewriteRule = {
  name: 'sigmoid-hard',
  proof: 'approximate',
  proofText: 'HardSigmoid(x; 1/6, 1/2) stands for the sigmoid: it differs by at most 0.070, at ±1.32.',
  pattern: op('Sigmoid', { inputs: [any('x')] }),
  rewrite(match) {
    const node = newSwishGate(match.node.name, match.value('x'));
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

/** The rule `silu-hard-swish`: one operator from opset 14, Mul and HardSigmoid before. */
export const hardenSilu: RewriteRule = {
  name: 'silu-hard-swish',
  proof: 'approximate',
  proofText: 'HardSwish takes the place of x · sigmoid(x): it differs by at most 0.143, at ±3.',
  pattern: op('Mul', { inputs: [any('x'), op('Sigmoid', { name: 'gate', inputs: [any('gated')] })], order: 'commutative' }),
  rewrite(match) {
    if (match.value('x') !== match.value('gated')) return decline('what is multiplied is not what the sigmoid reads', match.node);
    return match.opset < HARD_SWISH_OPSET ? asProduct(match) : asOperator(match);
  },
};

function asOperator(match: Match): ReturnType<RewriteRule['rewrite']> {
  const node = newNode('HardSwish', { name: match.node.name, inputs: [match.value('x')] });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}

function asProduct(match: Match): ReturnType<RewriteRule['rewrite']> {
  const gate = newSwishGate(match.inner('gate').name, match.value('x'));
  const node = newNode('Mul', { name: match.node.name, inputs: [match.value('x'), outputOf(gate)] });
  return patch({ add: [gate, node], replace: [[match.output(), outputOf(node)]] });
}
