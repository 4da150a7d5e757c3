/** Shape inference of operators that rearrange elements, and of Shape and Size. */
import { findInts, getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { divideDims, multiplyDims, productOf, resolveAxis, unknownDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch, type NodeContext } from '../context/node-context.js';

const shape: InferFunction = c => {
  const dims = c.dims(0);
  if (dims === undefined) return [known('int64', [undefined])];
  const clamp = (at: number): number => Math.min(Math.max(at < 0 ? at + dims.length : at, 0), dims.length);
  const elements = dims.slice(clamp(getInt(c.node, 'start', 0)), clamp(getInt(c.node, 'end', dims.length)));
  return [known('int64', [elements.length], elements)];
};

const size: InferFunction = c => {
  const dims = c.dims(0);
  return [known('int64', [], dims && [productOf(dims)])];
};

const reshape: InferFunction = c => {
  const wanted = c.opset < 5 ? findInts(c.node, 'shape') : c.elements(1);
  if (wanted === undefined) {
    const rank = c.dims(1)?.[0];
    return [known(c.dtype(0), typeof rank === 'number' ? unknownDims(rank) : undefined)];
  }
  return [known(c.dtype(0), resolveReshape(c, wanted), c.elements(0))];
};

function resolveReshape(c: NodeContext, wanted: readonly Dim[]): readonly Dim[] {
  const input = c.dims(0);
  const copiesZero = getInt(c.node, 'allowzero', 0) === 0;
  const dims = wanted.map((dim, axis) => (dim === 0 && copiesZero ? input?.[axis] : dim));
  const inferred = dims.indexOf(-1);
  if (inferred < 0) return checkCount(c, dims);
  const rest = dims.filter((_, axis) => axis !== inferred);
  dims[inferred] = input && divideProducts(input, rest);
  const result = dims[inferred];
  if (typeof result === 'number' && !Number.isInteger(result))
    throw mismatch(c, `input ${c.describe(0)} cannot be reshaped to [${wanted.map(dim => dim ?? '?').join(', ')}]`);
  return dims;
}

/** The product of `all` divided by that of `some`, with equal names cancelled. */
function divideProducts(all: readonly Dim[], some: readonly Dim[]): Dim {
  const left = [...all];
  const right: Dim[] = [];
  for (const dim of some) {
    const at = typeof dim === 'string' ? left.indexOf(dim) : -1;
    if (at >= 0) left.splice(at, 1);
    else right.push(dim);
  }
  const [numerator, denominator] = [productOf(left), productOf(right)];
  if (denominator === 1) return numerator;
  return typeof numerator === 'number' && typeof denominator === 'number' && denominator !== 0 ? numerator / denominator : undefined;
}

function checkCount(c: NodeContext, dims: readonly Dim[]): readonly Dim[] {
  const before = c.dims(0) && productOf(c.dims(0) ?? []);
  const after = productOf(dims);
  if (typeof before === 'number' && typeof after === 'number' && before !== after)
    throw mismatch(c, `input ${c.describe(0)} has ${before} elements, the requested shape [${dims.join(', ')}] has ${after}`);
  return dims;
}

const flatten: InferFunction = c => {
  const dims = c.dims(0);
  if (dims === undefined) return [known(c.dtype(0), [undefined, undefined])];
  const axis = getInt(c.node, 'axis', 1);
  const at = axis < 0 ? axis + dims.length : axis;
  return [known(c.dtype(0), [productOf(dims.slice(0, at)), productOf(dims.slice(at))])];
};

/** Axes of Squeeze, Unsqueeze and reductions: an attribute before opset `since`, then an input. undefined: not known; 'absent': not given. */
export function readAxes(c: NodeContext, since: number): readonly number[] | 'absent' | undefined {
  if (c.opset < since) return findInts(c.node, 'axes') ?? 'absent';
  if (!c.has(1)) return 'absent';
  const axes = c.elements(1);
  return axes?.every(axis => typeof axis === 'number') ? (axes as readonly number[]) : undefined;
}

const squeeze: InferFunction = c => {
  const dims = c.dims(0);
  const axes = readAxes(c, 13);
  if (dims === undefined || axes === undefined) return [known(c.dtype(0), undefined, c.elements(0))];
  if (axes === 'absent') {
    const result = dims.every(dim => typeof dim === 'number') ? dims.filter(dim => dim !== 1) : undefined;
    return [known(c.dtype(0), result, c.elements(0))];
  }
  const dropped = new Set(axes.map(axis => resolveAxis(axis, dims.length)));
  for (const axis of dropped) {
    const dim = axis === undefined ? undefined : dims[axis];
    if (axis === undefined || (typeof dim === 'number' && dim !== 1))
      throw mismatch(c, `axes [${axes.join(', ')}] of input ${c.describe(0)} cannot be squeezed`);
  }
  return [
    known(
      c.dtype(0),
      dims.filter((_, axis) => !dropped.has(axis)),
      c.elements(0),
    ),
  ];
};

const unsqueeze: InferFunction = c => {
  const dims = c.dims(0);
  const axes = readAxes(c, 13);
  if (dims === undefined || axes === undefined || axes === 'absent') return [known(c.dtype(0), undefined)];
  const rank = dims.length + axes.length;
  const added = new Set(axes.map(axis => resolveAxis(axis, rank)));
  if (added.size !== axes.length || added.has(undefined))
    throw mismatch(c, `axes [${axes.join(', ')}] are not distinct axes of rank ${rank}`);
  const rest = [...dims];
  const result = Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : rest.shift()));
  return [known(c.dtype(0), result, result.length <= 1 ? c.elements(0) : undefined)];
};

const transpose: InferFunction = c => {
  const dims = c.dims(0);
  if (dims === undefined) return [known(c.dtype(0), undefined)];
  const perm = findInts(c.node, 'perm') ?? dims.map((_, axis) => dims.length - 1 - axis);
  if (perm.length !== dims.length) throw mismatch(c, `perm [${perm.join(', ')}] does not match input ${c.describe(0)}`);
  return [
    known(
      c.dtype(0),
      perm.map(axis => dims[axis]),
    ),
  ];
};

const depthToSpace: InferFunction = c => {
  const dims = c.dims(0);
  const block = getInt(c.node, 'blocksize', 1);
  if (dims === undefined) return [known(c.dtype(0), unknownDims(4))];
  const [n, channels, h, w] = dims;
  return [known(c.dtype(0), [n, divideDims(channels, block * block), multiplyDims(h, block), multiplyDims(w, block)])];
};

const spaceToDepth: InferFunction = c => {
  const dims = c.dims(0);
  const block = getInt(c.node, 'blocksize', 1);
  if (dims === undefined) return [known(c.dtype(0), unknownDims(4))];
  const [n, channels, h, w] = dims;
  return [known(c.dtype(0), [n, multiplyDims(channels, block * block), divideDims(h, block), divideDims(w, block)])];
};

export const LAYOUT: InferTable = {
  Shape: shape,
  Size: size,
  Reshape: reshape,
  Flatten: flatten,
  Squeeze: squeeze,
  Unsqueeze: unsqueeze,
  Transpose: transpose,
  DepthToSpace: depthToSpace,
  SpaceToDepth: spaceToDepth,
};
