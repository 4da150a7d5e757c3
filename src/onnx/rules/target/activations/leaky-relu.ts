/** Rewrite rules `prelu-leaky-relu` and `leaky-relu-256ths`: slopes of leaky Relu as targets support them. */
import { float, getFloat } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, constant, op } from '../../../rewrite/pattern.js';
import { decline, type RuleCode } from '../../../rewrite/rule.js';
import { findFloat32 } from '../../shared/constants.js';

/** Rule `prelu-leaky-relu`: a PRelu whose slopes are all equal. */
export const preluToLeakyRelu: RuleCode = {
  proofText: 'A PRelu with one slope for all elements is a LeakyRelu with that slope.',
  pattern: op('PRelu', { inputs: [any('x'), constant('slope')] }),
  rewrite(match) {
    const slopes = findFloat32(match.constant('slope'))?.data;
    if (slopes === undefined) return decline('its slopes are not float32', match.node);
    const [first] = slopes;
    if (first === undefined || slopes.some(value => !Object.is(value, first))) return decline('its slopes differ', match.node);
    const node = newNode('LeakyRelu', { name: match.node.name, inputs: [match.value('x')], attributes: { alpha: float(first) } });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

/** Rule `leaky-relu-256ths`: DPUs multiply by n/256 (26/256 for the usual 0.1). */
export const leakyReluTo256ths: RuleCode = {
  proofText: 'The slope becomes the nearest n/256: outputs for negative inputs x change by at most |x|/512.',
  pattern: op('LeakyRelu', { inputs: [any('x')] }),
  rewrite(match) {
    const alpha = getFloat(match.node, 'alpha', 0.01);
    const nearest = Math.round(alpha * 256) / 256;
    if (nearest === alpha) return decline(`its slope is already ${alpha * 256}/256`, match.node);
    const node = newNode('LeakyRelu', { name: match.node.name, inputs: [match.value('x')], attributes: { alpha: float(nearest) } });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};
