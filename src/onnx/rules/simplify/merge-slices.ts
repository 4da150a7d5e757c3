/** Simplify rule `merge-slices`: two Slices in sequence with constant bounds become one. */

import type { Dim, Node } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { newInts } from '../shared/constants.js';
import { type AxisBounds, BOUNDS_INPUTS, readSliceBounds } from '../shared/slice-bounds.js';

export const mergeSlices: RewriteRule = {
  name: 'merge-slices',
  proof: 'exact',
  proofText: 'A Slice of a Slice is a Slice: starts and steps are composed axis by axis.',
  pattern: op('Slice', { inputs: [op('Slice', { name: 'first', inputs: [any('x')] })] }),
  rewrite(match) {
    if (match.opset < BOUNDS_INPUTS)
      return decline(`it needs opset ${BOUNDS_INPUTS}, from which on Slice takes its bounds as inputs`, match.node);
    const dims = match.type(match.value('x')).dims;
    const first = dims && readForward(match, match.inner('first'), dims);
    if (dims === undefined || first === undefined)
      return decline('bounds or dims of the first Slice are not known, or a step is negative', match.node);
    const second = readForward(
      match,
      match.node,
      dims.map((dim, axis) => first.get(axis)?.count ?? dim),
    );
    if (second === undefined) return decline('bounds or dims of the second Slice are not known, or a step is negative', match.node);
    const cuts = new Map(first);
    for (const [axis, cut] of second) cuts.set(axis, compose(cuts.get(axis), cut));
    const axes = [...cuts.keys()].sort((a, b) => a - b);
    const name = match.nameOf(match.output());
    const constant = (what: string, of: (cut: AxisBounds) => number) =>
      newInts(
        `${name}_${what}`,
        axes.map(axis => of(cuts.get(axis) ?? { start: 0, step: 1, count: 0 })),
      );
    const node = newNode('Slice', {
      name: match.node.name,
      inputs: [
        match.value('x'),
        constant('starts', cut => cut.start),
        constant('ends', cut => cut.start + cut.step * (cut.count - 1) + 1),
        newInts(`${name}_axes`, axes),
        constant('steps', cut => cut.step),
      ],
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

const compose = (before: AxisBounds | undefined, cut: AxisBounds): AxisBounds =>
  before === undefined ? cut : { start: before.start + before.step * cut.start, step: before.step * cut.step, count: cut.count };

/** The bounds of a Slice whose steps are all positive. */
function readForward(match: Match, node: Node, dims: readonly Dim[]): Map<number, AxisBounds> | undefined {
  const cuts = readSliceBounds(match, node, dims);
  return cuts !== undefined && [...cuts.values()].every(({ step }) => step > 0) ? cuts : undefined;
}
