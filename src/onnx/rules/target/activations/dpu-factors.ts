/** Rewrite rule `dpu-factors`: a Mul after operators whose divisor a DPU replaces by an integer and a shift, so that other machines compute its values. */
import { findInts, getFloat } from '../../../ir/attribute.js';
import type { Node } from '../../../ir/model.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findNumber, newFloats } from '../../shared/constants.js';
import { GATE_OFFSET, GATE_SLOPE } from '../../shared/hard-swish-gate.js';

/** Form `hard-sigmoid`: the slope 1/6 is 2731 / 2^14 there. */
export const dpuHardSigmoid: RuleCode = {
  proofText: 'The result is multiplied by 6 · 2731 / 2^14 = 1.000122: it differs by at most 0.000123.',
  pattern: op('HardSigmoid', { inputs: [any('x')] }),
  rewrite: match =>
    multiply(match, node =>
      getFloat(node, 'alpha', 0.2) === GATE_SLOPE && getFloat(node, 'beta', 0.5) === GATE_OFFSET
        ? (6 * 2731) / 2 ** 14
        : decline('its slope is not 1/6, or its offset not 1/2: apply hard-sigmoid-slope first', node),
    ),
};

/** Form `average-pool`. */
export const dpuAveragePool: RuleCode = {
  proofText: 'The mean is multiplied by n · k / 2^m, where k / 2^m is the number for which a DPU takes 1/n of a window of n elements.',
  pattern: op(['AveragePool', 'GlobalAveragePool'], { inputs: [any('x')] }),
  rewrite: match =>
    multiply(match, node => {
      const [height, width, ...more] = node.opType === 'AveragePool' ? (findInts(node, 'kernel_shape') ?? []) : areaOf(match);
      if (typeof height !== 'number' || typeof width !== 'number' || more.length > 0)
        return decline('height or width of its window is not known', node);
      return poolFactor(height, width);
    }),
};

function areaOf(match: Match): readonly unknown[] {
  return match.type(match.value('x')).dims?.slice(2) ?? [];
}

/** Square windows with a divisor of their own, as k and m of k / 2^m. */
const DIVISORS: ReadonlyMap<number, readonly [number, number]> = new Map([
  [3, [7, 6]],
  [5, [10, 8]],
  [6, [7, 8]],
  [7, [21, 10]],
  [14, [21, 12]],
]);

/** Beyond this height or width there is no factor. */
const LARGEST_SIDE = 255;

/** n · k / 2^m; of all m < 7 + ⌈log2 n⌉ the smallest with the least difference from 1/n. (vai_q_onnx and Quark, `SimulateDPU`.) */
export function poolFactor(height: number, width: number): number {
  if (Math.max(height, width) > LARGEST_SIDE) return 1;
  const area = height * width;
  const own = height === width ? DIVISORS.get(height) : undefined;
  if (own !== undefined) return (area * own[0]) / 2 ** own[1];
  let [best, least] = [1, Number.POSITIVE_INFINITY];
  for (let bits = 0; bits < 7 + Math.ceil(Math.log2(area)); bits++) {
    const quotient = Math.round(2 ** bits / area) / 2 ** bits;
    const difference = Math.abs(quotient - 1 / area);
    if (difference < least) [best, least] = [quotient * area, difference];
  }
  return best;
}

/** The root, and a Mul of its output by a constant. */
function multiply(match: Match, factorOf: (node: Node) => number | Decline): ReturnType<RuleCode['rewrite']> {
  const { node } = match;
  const output = match.output();
  if (match.type(output).dtype !== 'float32') return decline('its output is not float32', node);
  const factor = factorOf(node);
  if (typeof factor !== 'number') return factor;
  if (Math.fround(factor) === 1) return decline('a DPU computes it with the factor 1', node);
  const reader = match.soleReader(output);
  const applied = reader?.opType === 'Mul' ? reader.inputs.map(input => findNumber(match.constantOf(input))) : [];
  if (applied.includes(Math.fround(factor))) return decline('its output is multiplied by the factor already', node);
  const same = newNode(node.opType, { name: node.name, inputs: node.inputs, attributes: node.attributes });
  const constant = newFloats(`${match.nameOf(output)}_dpu_factor`, [], [factor]);
  const product = newNode('Mul', { name: node.name && `${node.name}/dpu-factor`, inputs: [outputOf(same), constant] });
  return patch({ add: [same, product], replace: [[output, outputOf(product)]] });
}
