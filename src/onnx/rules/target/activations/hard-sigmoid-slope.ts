/** Rewrite rule `hard-sigmoid-slope`: HardSigmoid of any slope and offset becomes one of slope 1/6 and offset 1/2 after a scale and a shift. */
import { getFloat } from '../../../ir/attribute.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats } from '../../shared/constants.js';
import { GATE_OFFSET, GATE_SLOPE, newSwishGate } from '../../shared/hard-swish-gate.js';

/** max(0, min(1, αx + β)) = HardSigmoid(6α·x + 6(β − 1/2); 1/6, 1/2). */
export const fixHardSigmoidSlope: RuleCode = {
  proofText: 'αx + β = (6α·x + 6(β − 1/2))/6 + 1/2: the same line, rounded at other places.',
  pattern: op('HardSigmoid', { inputs: [any('x')] }),
  rewrite(match) {
    const [alpha, beta] = [getFloat(match.node, 'alpha', 0.2), getFloat(match.node, 'beta', 0.5)];
    if (alpha === GATE_SLOPE && beta === GATE_OFFSET) return decline('its slope is already 1/6 and its offset 1/2', match.node);
    if (match.type(match.value('x')).dtype !== 'float32') return decline('its input is not float32', match.node);
    const base = match.nameOf(match.output());
    const add: PatchNode[] = [];
    const step = (opType: string, what: string, x: Ref, value: number): Ref => {
      const node = newNode(opType, {
        name: match.node.name && `${match.node.name}/${what}`,
        inputs: [x, newFloats(`${base}_${what}`, [], [value])],
      });
      add.push(node);
      return outputOf(node);
    };
    const scaled = alpha === GATE_SLOPE ? match.value('x') : step('Mul', 'scale', match.value('x'), 6 * alpha);
    const shifted = beta === GATE_OFFSET ? scaled : step('Add', 'shift', scaled, 6 * (beta - GATE_OFFSET));
    const node = newSwishGate(match.node.name, shifted);
    return patch({ add: [...add, node], replace: [[match.output(), outputOf(node)]] });
  },
};
