/** Detection of the nodes that compute Gelu, x · (1 + erf(x/√2))/2, as exported before opset 20. */
import type { Node, ValueId } from '../../ir/model.js';
import type { Match } from '../../rewrite/rule.js';
import { findNumber } from './constants.js';

export interface FoundGelu {
  readonly x: ValueId;
  readonly nodes: readonly Node[];
}

/** Matches the root as a product of x, 1 + erf(x/√2) and 1/2 in any order. */
export function findGelu(match: Match): FoundGelu | undefined {
  for (const outer of splitProduct(match.node)) {
    const inner = match.producerOf(outer.value);
    // (x · (1 + erf)) · ½, (x · ½) · (1 + erf) or x · ((1 + erf) · ½)
    for (const factors of inner === undefined ? [] : splitProduct(inner)) {
      const all = [outer.other, factors.value, factors.other];
      const found = fromFactors(match, all);
      if (found !== undefined && inner !== undefined) return { x: found.x, nodes: [inner, ...found.nodes] };
    }
  }
  return undefined;
}

function splitProduct(node: Node): readonly { readonly value: ValueId; readonly other: ValueId }[] {
  const [a, b] = node.inputs;
  if (node.domain !== '' || node.opType !== 'Mul' || a === undefined || b === undefined) return [];
  return [
    { value: a, other: b },
    { value: b, other: a },
  ];
}

function fromFactors(match: Match, factors: readonly ValueId[]): FoundGelu | undefined {
  const half = factors.findIndex(value => findNumber(match.constantOf(value)) === 0.5);
  if (half < 0) return undefined;
  const [first, second] = factors.filter((_, index) => index !== half);
  if (first === undefined || second === undefined) return undefined;
  return fromPair(match, first, second) ?? fromPair(match, second, first);
}

function fromPair(match: Match, x: ValueId, sum: ValueId): FoundGelu | undefined {
  const add = match.producerOf(sum, 'Add');
  const [erfValue] = add === undefined ? [] : splitConstant(match, add, 1);
  const erf = match.producerOf(erfValue, 'Erf');
  const scaled = erf?.inputs[0];
  const divide = match.producerOf(scaled, 'Div');
  const multiply = match.producerOf(scaled, 'Mul');
  if (add === undefined || erf === undefined) return undefined;
  if (divide !== undefined && divide.inputs[0] === x && isNear(findNumber(match.constantOf(divide.inputs[1])), Math.SQRT2))
    return { x, nodes: [add, erf, divide] };
  if (multiply === undefined) return undefined;
  const [data] = splitConstant(match, multiply, Math.SQRT1_2);
  return data === x ? { x, nodes: [add, erf, multiply] } : undefined;
}

/** The other operand of a commutative node, if one operand is a constant near `number`. */
function splitConstant(match: Match, node: Node, number: number): readonly ValueId[] {
  const [a, b] = node.inputs;
  if (a !== undefined && isNear(findNumber(match.constantOf(b)), number)) return [a];
  return b !== undefined && isNear(findNumber(match.constantOf(a)), number) ? [b] : [];
}

const isNear = (value: number | undefined, wanted: number): boolean => value !== undefined && Math.abs(value - wanted) < 1e-6;
