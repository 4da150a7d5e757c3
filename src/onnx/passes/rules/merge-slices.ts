/** Which two Slices are one? Those whose bounds are constant and whose sizes are known. */

import type { Dim, Node } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { newInts } from '../../rewrite/rules/numbers.js';
import { findIntegers } from '../../shape-inference/constant-elements.js';

/** Slice takes its bounds as inputs from opset 10. */
const BOUNDS_INPUTS = 10;

interface Cut {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

export const mergeSlices: RewriteRule = {
  name: 'merge-slices',
  proof: 'exact',
  proofText: 'A part of a part is a part: starts and steps are composed axis by axis.',
  pattern: op('Slice', { inputs: [op('Slice', { name: 'first', inputs: [any('x')] })] }),
  rewrite(match) {
    if (match.opset < BOUNDS_INPUTS) return decline(`Slice has inputs from opset ${BOUNDS_INPUTS}`, match.node);
    const dims = match.type(match.value('x')).dims;
    const first = dims && readCuts(match, match.inner('first'), dims);
    if (dims === undefined || first === undefined) return decline('bounds or sizes of the first Slice are not known', match.node);
    const second = readCuts(
      match,
      match.node,
      dims.map((dim, axis) => first.get(axis)?.count ?? dim),
    );
    if (second === undefined) return decline('bounds or sizes of the second Slice are not known', match.node);
    const cuts = new Map(first);
    for (const [axis, cut] of second) cuts.set(axis, compose(cuts.get(axis), cut));
    const axes = [...cuts.keys()].sort((a, b) => a - b);
    const name = match.nameOf(match.output());
    const constant = (what: string, of: (cut: Cut) => number) =>
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

const compose = (before: Cut | undefined, cut: Cut): Cut =>
  before === undefined ? cut : { start: before.start + before.step * cut.start, step: before.step * cut.step, count: cut.count };

/** Per axis what a Slice with positive steps takes, at least one element; undefined where that is not known. */
function readCuts(match: Match, node: Node, dims: readonly Dim[]): Map<number, Cut> | undefined {
  const list = (index: number) => findIntegers(match.constantOf(node.inputs[index]));
  const [starts, ends] = [list(1), list(2)];
  if (starts === undefined || ends === undefined) return undefined;
  const axes = node.inputs[3] === undefined ? starts.map((_, index) => index) : list(3);
  const steps = node.inputs[4] === undefined ? starts.map(() => 1) : list(4);
  if (axes === undefined || steps === undefined) return undefined;
  const cuts = new Map<number, Cut>();
  for (const [index, given] of axes.entries()) {
    const axis = given < 0 ? given + dims.length : given;
    const size = dims[axis];
    const step = steps[index] ?? 0;
    if (typeof size !== 'number' || step < 1) return undefined;
    const place = (bound: number): number => Math.min(size, Math.max(0, bound < 0 ? bound + size : bound));
    const [start, end] = [place(starts[index] ?? 0), place(ends[index] ?? 0)];
    if (end <= start) return undefined;
    cuts.set(axis, { start, step, count: Math.ceil((end - start) / step) });
  }
  return cuts;
}
