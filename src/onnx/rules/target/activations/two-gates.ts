/** Rewrite rule `silu-two-hard-sigmoids`: SiLU with the mean of two HardSigmoids as its gate, closer than HardSwish. */
import { float } from '../../../ir/attribute.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats } from '../../shared/constants.js';

/** One gate saturates at ±2, the other at ±4. Their slopes are powers of two; the best pair, 0.244 and 0.122, has an error of 0.067 instead of 0.072. */
const SLOPES = [1 / 4, 1 / 8];

/** The mean is taken before the product, so that the gate has the range 0 … 1 of the sigmoid. */
export const siluToTwoGates: RuleCode = {
  proofText:
    'The mean of HardSigmoid(x; 1/4, 1/2) and HardSigmoid(x; 1/8, 1/2) replaces the sigmoid: x · gate differs by at most 0.072, at ±4.',
  pattern: op('Mul', { inputs: [any('x'), op('Sigmoid', { name: 'gate', inputs: [any('gated')] })], order: 'commutative' }),
  rewrite(match) {
    const x = match.value('x');
    if (x !== match.value('gated')) return decline('its factor is not the input of the Sigmoid', match.node);
    if (match.type(x).dtype !== 'float32') return decline('its input is not float32', match.node);
    const { name } = match.inner('gate');
    const add: PatchNode[] = [];
    const put = (opType: string, what: string, inputs: readonly Ref[], slope?: number): Ref => {
      const attributes = slope === undefined ? {} : { alpha: float(slope), beta: float(1 / 2) };
      const node = newNode(opType, { name: name && `${name}${what}`, inputs, attributes });
      add.push(node);
      return outputOf(node);
    };
    const gates = SLOPES.map((slope, index) => put('HardSigmoid', `/${index + 1}`, [x], slope));
    const half = newFloats(`${match.nameOf(match.output())}_half`, [], [1 / 2]);
    const mean = put('Mul', '', [put('Add', '/sum', gates), half]);
    const product = newNode('Mul', { name: match.node.name, inputs: [x, mean] });
    return patch({ add: [...add, product], replace: [[match.output(), outputOf(product)]] });
  },
};
