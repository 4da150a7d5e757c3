/** Rewrite rules `sigmoid-hard` and `silu-hard-swish`: piecewise linear approximations for targets without an exponential. */
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { HARD_SWISH_OPSET, newSwishGate } from '../../shared/hard-swish-gate.js';

/** Rule `sigmoid-hard`. */
export const hardenSigmoid: RuleCode = {
  proofText: 'HardSigmoid(x; 1/6, 1/2) replaces the sigmoid: the difference is at most 0.070, at ±1.32.',
  pattern: op('Sigmoid', { inputs: [any('x')] }),
  rewrite(match) {
    const node = newSwishGate(match.node.name, match.value('x'));
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

/** Rule `silu-hard-swish`: HardSwish from opset 14 on, Mul and HardSigmoid before. */
export const hardenSilu: RuleCode = {
  proofText: 'HardSwish replaces x · sigmoid(x): the difference is at most 0.143, at ±3.',
  pattern: op('Mul', { inputs: [any('x'), op('Sigmoid', { name: 'gate', inputs: [any('gated')] })], order: 'commutative' }),
  rewrite(match) {
    if (match.value('x') !== match.value('gated')) return decline('its factor is not the input of the Sigmoid', match.node);
    return match.opset < HARD_SWISH_OPSET ? asProduct(match) : asOperator(match);
  },
};

function asOperator(match: Match): ReturnType<RuleCode['rewrite']> {
  const node = newNode('HardSwish', { name: match.node.name, inputs: [match.value('x')] });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}

function asProduct(match: Match): ReturnType<RuleCode['rewrite']> {
  const gate = newSwishGate(match.inner('gate').name, match.value('x'));
  const node = newNode('Mul', { name: match.node.name, inputs: [match.value('x'), outputOf(gate)] });
  return patch({ add: [gate, node], replace: [[match.output(), outputOf(node)]] });
}
