/** The constant bounds of a Slice as start, step and count per axis. (ONNX Slice, opset 10.) */
import type { Dim, Node } from '../../ir/model.js';
import type { Match } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';

/** From this opset on, Slice takes its bounds as inputs. */
export const BOUNDS_INPUTS = 10;

export interface AxisBounds {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** Bounds by axis, each with at least one element; undefined if they are not known. `dims` are those of the input. */
export function readSliceBounds(match: Match, node: Node, dims: readonly Dim[]): Map<number, AxisBounds> | undefined {
  const list = (index: number) => findIntegers(match.constantOf(node.inputs[index]));
  const [starts, ends] = [list(1), list(2)];
  if (starts === undefined || ends === undefined) return undefined;
  const axes = node.inputs[3] === undefined ? starts.map((_, index) => index) : list(3);
  const steps = node.inputs[4] === undefined ? starts.map(() => 1) : list(4);
  if (axes === undefined || steps === undefined) return undefined;
  const bounds = new Map<number, AxisBounds>();
  for (const [index, given] of axes.entries()) {
    const axis = given < 0 ? given + dims.length : given;
    const size = dims[axis];
    const step = steps[index] ?? 0;
    if (typeof size !== 'number' || step === 0) return undefined;
    const found = clampBounds(size, step, starts[index] ?? 0, ends[index] ?? 0);
    if (found.count < 1) return undefined;
    bounds.set(axis, found);
  }
  return bounds;
}

/** Negative bounds count from the end. Bounds are clamped to 0 … size; for negative steps, to −1 … size − 1. */
function clampBounds(size: number, step: number, from: number, to: number): AxisBounds {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clamp = (bound: number, least: number): number => Math.min(high, Math.max(least, bound < 0 ? bound + size : bound));
  const start = clamp(from, Math.max(0, low));
  return { start, step, count: Math.ceil((clamp(to, low) - start) / step) };
}
