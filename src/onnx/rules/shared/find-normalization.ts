/** Detection of the nodes that compute (x − mean)/√(variance + ε) over some axes, times a factor, plus an offset. */
import { findInts, getInt } from '../../ir/attribute.js';
import type { Node, ValueId } from '../../ir/model.js';
import { any, constant, op, type Pattern } from '../../rewrite/pattern.js';
import type { Match } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';
import { findNumber } from './constants.js';

/** The root is the sum; the constants are named "gamma" and "beta". */
export const NORMALIZATION: Pattern = op('Add', {
  inputs: [
    op('Mul', {
      name: 'scaled',
      inputs: [op('Div', { name: 'normal', inputs: [any('centered'), any('deviation')] }), constant('gamma')],
      order: 'commutative',
    }),
    constant('beta'),
  ],
  order: 'commutative',
});

export interface Normalization {
  readonly x: ValueId;
  readonly axes: readonly number[];
  readonly epsilon: number;
  readonly nodes: readonly Node[];
}

/** The normalization, or the reason why the nodes do not compute one. */
export function findNormalization(match: Match): Normalization | string {
  const centered = match.value('centered');
  const subtract = match.producerOf(centered, 'Sub');
  const [x, meanValue] = subtract?.inputs ?? [];
  const mean = match.producerOf(meanValue, 'ReduceMean');
  if (subtract === undefined || x === undefined || mean?.inputs[0] !== x) return 'the dividend is not x − mean(x)';
  const root = match.producerOf(match.value('deviation'), 'Sqrt');
  const add = match.producerOf(root?.inputs[0], 'Add');
  const [varianceValue, epsilonValue] = add?.inputs ?? [];
  const epsilon = findNumber(match.constantOf(epsilonValue));
  const variance = match.producerOf(varianceValue, 'ReduceMean');
  if (root === undefined || add === undefined || variance === undefined || epsilon === undefined) return 'the divisor is not √(mean + ε)';
  const square = match.producerOf(variance.inputs[0], 'Pow') ?? match.producerOf(variance.inputs[0], 'Mul');
  if (square === undefined || !squares(match, square, centered)) return 'the variance is not that of x';
  const [axes, varianceAxes] = [axesOf(match, mean), axesOf(match, variance)];
  if (axes === undefined || axes.join() !== varianceAxes?.join()) return 'mean and variance are taken over different axes';
  return { x, axes, epsilon, nodes: [root, add, variance, square, subtract, mean] };
}

function squares(match: Match, node: Node, value: ValueId): boolean {
  if (node.opType === 'Mul') return node.inputs[0] === value && node.inputs[1] === value;
  return node.inputs[0] === value && findNumber(match.constantOf(node.inputs[1])) === 2;
}

function axesOf(match: Match, node: Node): readonly number[] | undefined {
  if (getInt(node, 'keepdims', 1) !== 1) return undefined;
  return findInts(node, 'axes') ?? findIntegers(match.constantOf(node.inputs[1]));
}
