/** What rules need to move operators across a Transpose. */
import { findInts } from '../../ir/attribute.js';
import type { Node, ValueId } from '../../ir/model.js';
import type { Match } from '../../rewrite/rule.js';

/** Elementwise operators whose first input is the data. The others must be single numbers: see `isOneNumber`. */
export const ELEMENTWISE_OF_ONE: readonly string[] = [
  ...['Relu', 'LeakyRelu', 'Elu', 'Selu', 'Clip', 'Sigmoid', 'HardSigmoid', 'HardSwish', 'Tanh', 'Softplus', 'Mish', 'Gelu', 'Abs', 'Neg'],
  ...['Exp', 'Log', 'Sqrt', 'Reciprocal', 'Floor', 'Ceil', 'Round', 'Erf', 'Cast', 'Identity', 'QuantizeLinear', 'DequantizeLinear'],
];

/** Whether an input is left out or a constant of one element. */
export const isOneNumber = (match: Match, input: ValueId | undefined): boolean =>
  input === undefined || match.constantOf(input)?.dims.every(dim => dim === 1) === true;

/** The permutation of a Transpose: `perm`, or reversed axes; undefined if it needs a rank that is not known. */
export function findPerm(match: Match, transpose: Node): readonly number[] | undefined {
  const [x] = transpose.inputs;
  const rank = x === undefined ? undefined : match.type(x).dims?.length;
  return findInts(transpose, 'perm') ?? (rank === undefined ? undefined : Array.from({ length: rank }, (_, axis) => rank - 1 - axis));
}
