/** Which places does a Slice take? Per axis a start, a step and a count, where bounds are constant and sizes known. (ONNX Slice, opset 10.) */
import type { Dim, Node } from '../../ir/model.js';
import type { Match } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';

/** Slice takes its bounds as inputs from opset 10. */
export const BOUNDS_INPUTS = 10;

export interface Cut {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** At least one place per axis; undefined where that is not known. `dims` are those of what is cut. */
export function readCuts(match: Match, node: Node, dims: readonly Dim[]): Map<number, Cut> | undefined {
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
    if (typeof size !== 'number' || step === 0) return undefined;
    const cut = makeCut(size, step, starts[index] ?? 0, ends[index] ?? 0);
    if (cut.count < 1) return undefined;
    cuts.set(axis, cut);
  }
  return cuts;
}

/** Bounds count from the end where they are negative, and are clamped: backwards to one before the first place. */
function makeCut(size: number, step: number, from: number, to: number): Cut {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const place = (bound: number, least: number): number => Math.min(high, Math.max(least, bound < 0 ? bound + size : bound));
  const start = place(from, Math.max(0, low));
  return { start, step, count: Math.ceil((place(to, low) - start) / step) };
}
