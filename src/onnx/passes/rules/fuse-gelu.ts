/** Which nodes are a Gelu? x · (1 + erf(x / √2)) / 2, as exporters before opset 20 wrote it. */

import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findNumber } from '../../rewrite/rules/numbers.js';

/** Gelu is an operator from opset 20. */
const GELU = 20;

export const fuseGelu: RewriteRule = {
  name: 'fuse-gelu',
  proof: 'rounding',
  proofText: 'The nodes compute x · (1 + erf(x/√2))/2 as Gelu does; one kernel rounds less often.',
  pattern: op('Mul'),
  rewrite(match) {
    const found = findErf(match);
    if (found === undefined) return decline('it is no product of x, 1 + erf(x/√2) and 1/2', match.node);
    if (match.opset < GELU) return decline(`Gelu is there from opset ${GELU}; the model has ${match.opset}`, match.node);
    if (!sameRank(match, found.x)) return decline('a constant may raise its rank', match.node);
    const node = newNode('Gelu', { name: match.node.name, inputs: [found.x] });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

/** Constants of one element may still have more axes than x. */
function sameRank(match: Match, x: ValueId): boolean {
  const rank = match.type(x).dims?.length;
  return rank !== undefined && rank === match.type(match.output()).dims?.length;
}

interface Found {
  readonly x: ValueId;
  readonly nodes: readonly Node[];
}

/** The product in any order of its three factors. */
function findErf(match: Match): Found | undefined {
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

function fromFactors(match: Match, factors: readonly ValueId[]): Found | undefined {
  const half = factors.findIndex(value => findNumber(match.constantOf(value)) === 0.5);
  if (half < 0) return undefined;
  const [first, second] = factors.filter((_, index) => index !== half);
  if (first === undefined || second === undefined) return undefined;
  return fromPair(match, first, second) ?? fromPair(match, second, first);
}

function fromPair(match: Match, x: ValueId, sum: ValueId): Found | undefined {
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

/** The other operand of a commutative node of which one is near `number`. */
function splitConstant(match: Match, node: Node, number: number): readonly ValueId[] {
  const [a, b] = node.inputs;
  if (a !== undefined && isNear(findNumber(match.constantOf(b)), number)) return [a];
  return b !== undefined && isNear(findNumber(match.constantOf(a)), number) ? [b] : [];
}

const isNear = (value: number | undefined, wanted: number): boolean => value !== undefined && Math.abs(value - wanted) < 1e-6;
