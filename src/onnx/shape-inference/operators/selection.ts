/** Shape inference of operators that select, join, repeat or pad elements. */
import { findInts, getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { clampToSafe, findFloats } from '../context/constant-elements.js';
import { addDims, multiplyDims, resolveAxis, unknownDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch, type NodeContext } from '../context/node-context.js';

const concat: InferFunction = c => {
  const indices = c.node.inputs.map((_, index) => index);
  const shapes = indices.map(index => c.dims(index));
  const parts = indices.map(index => c.elements(index));
  const first = shapes.find(dims => dims !== undefined);
  const dtype = indices.map(index => c.dtype(index)).find(found => found !== undefined);
  if (first === undefined) return [known(dtype, undefined)];
  const axis = resolveAxis(getInt(c.node, 'axis', 1), first.length);
  if (axis === undefined) throw mismatch(c, `axis ${getInt(c.node, 'axis', 1)} is not an axis of input ${c.describe(0)}`);
  const result = first.map((_, at) => (at === axis ? sumAlong(shapes, axis) : mergeAlong(c, shapes, at)));
  const elements = first.length === 1 && parts.every(part => part !== undefined) ? parts.flatMap(part => part ?? []) : undefined;
  return [known(dtype, result, elements)];
};

function sumAlong(shapes: readonly (readonly Dim[] | undefined)[], axis: number): Dim {
  return shapes.reduce<Dim>((sum, dims) => addDims(sum, dims?.[axis]), 0);
}

function mergeAlong(c: NodeContext, shapes: readonly (readonly Dim[] | undefined)[], axis: number): Dim {
  let merged: Dim;
  for (const dims of shapes) {
    if (dims !== undefined && dims.length !== shapes.find(other => other !== undefined)?.length)
      throw mismatch(c, `inputs ${c.node.inputs.map((_, index) => c.describe(index)).join(', ')} have different ranks`);
    const dim = dims?.[axis];
    if (typeof merged === 'number' && typeof dim === 'number' && merged !== dim)
      throw mismatch(c, `inputs ${c.node.inputs.map((_, index) => c.describe(index)).join(', ')} differ on axis ${axis}`);
    if (typeof merged !== 'number' && dim !== undefined) merged = typeof dim === 'number' ? dim : (merged ?? dim);
  }
  return merged;
}

const split: InferFunction = c => {
  const dims = c.dims(0);
  const count = c.node.outputs.length;
  if (dims === undefined) return c.node.outputs.map(() => known(c.dtype(0), undefined));
  const axis = resolveAxis(getInt(c.node, 'axis', 0), dims.length);
  if (axis === undefined) throw mismatch(c, `axis ${getInt(c.node, 'axis', 0)} is not an axis of input ${c.describe(0)}`);
  const given = c.opset < 13 ? findInts(c.node, 'split') : c.has(1) ? c.elements(1) : undefined;
  const sizes = given ?? (c.opset >= 13 && c.has(1) ? unknownDims(count) : equalParts(dims[axis], count));
  return c.node.outputs.map((_, index) =>
    known(
      c.dtype(0),
      dims.map((dim, at) => (at === axis ? sizes[index] : dim)),
    ),
  );
};

/** Equal parts; the last one is smaller if the size is not divisible. */
function equalParts(size: Dim, count: number): readonly Dim[] {
  if (typeof size !== 'number') return unknownDims(count);
  const part = Math.ceil(size / count);
  return Array.from({ length: count }, (_, index) => Math.min(part, Math.max(size - index * part, 0)));
}

interface SliceRange {
  readonly starts: readonly Dim[] | undefined;
  readonly ends: readonly Dim[] | undefined;
  readonly axes: readonly Dim[] | undefined;
  readonly steps: readonly Dim[] | undefined;
}

function readSlice(c: NodeContext, rank: number): SliceRange {
  const all = Array.from({ length: rank }, (_, axis) => axis);
  if (c.opset < 10) {
    return { starts: readSaturated(c, 'starts'), ends: readSaturated(c, 'ends'), axes: findInts(c.node, 'axes') ?? all, steps: undefined };
  }
  return {
    starts: c.elements(1),
    ends: c.elements(2),
    axes: c.has(3) ? c.elements(3) : all,
    steps: c.has(4) ? (c.elements(4) ?? [undefined]) : undefined,
  };
}

/** Integers of an attribute, clamped to the safe integers: larger ones mean "to the end". */
function readSaturated(c: NodeContext, name: string): readonly number[] | undefined {
  const attribute = c.node.attributes.get(name);
  return attribute?.kind === 'ints' ? attribute.value.map(clampToSafe) : undefined;
}

const slice: InferFunction = c => {
  const dims = c.dims(0);
  if (dims === undefined) return [known(c.dtype(0), undefined)];
  const { starts, ends, axes, steps } = readSlice(c, dims.length);
  if (!axes?.every(axis => typeof axis === 'number')) return [known(c.dtype(0), unknownDims(dims.length))];
  const result = [...dims];
  let elements = dims.length === 1 ? c.elements(0) : undefined;
  const count = starts?.length ?? ends?.length ?? (c.has(3) ? axes.length : 0);
  for (const [index, given] of axes.slice(0, starts === undefined && !c.has(3) ? undefined : count).entries()) {
    const axis = resolveAxis(given, dims.length);
    if (axis === undefined) throw mismatch(c, `axis ${given} is not an axis of input ${c.describe(0)}`);
    const [size, start, end, step] = [dims[axis], starts?.[index], ends?.[index], steps === undefined ? 1 : steps[index]];
    const range = resolveRange(size, start, end, step);
    result[axis] = range?.length;
    elements = elements && range?.positions?.map(at => elements?.[at]);
  }
  return [known(c.dtype(0), result, elements)];
};

/** The number of positions, and the positions, that start:end:step selects from `size`, clamped as in ONNX. */
function resolveRange(size: Dim, start: Dim, end: Dim, step: Dim): { length: Dim; positions: number[] | undefined } | undefined {
  if (typeof size !== 'number' && start === 0 && step === 1 && typeof end === 'number' && end === Number.MAX_SAFE_INTEGER)
    return { length: size, positions: undefined };
  if (typeof size !== 'number' || typeof start !== 'number' || typeof end !== 'number' || typeof step !== 'number' || step === 0)
    return undefined;
  const clamp = (at: number, low: number, high: number): number => Math.min(Math.max(at < 0 ? at + size : at, low), high);
  const first = step > 0 ? clamp(start, 0, size) : clamp(start, 0, size - 1);
  const last = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
  const length = Math.max(Math.ceil((last - first) / step), 0);
  return { length, positions: length > 4096 ? undefined : Array.from({ length }, (_, index) => first + index * step) };
}

const gather: InferFunction = c => {
  const [data, indices] = [c.dims(0), c.dims(1)];
  if (data === undefined || indices === undefined) return [known(c.dtype(0), undefined)];
  const axis = resolveAxis(getInt(c.node, 'axis', 0), data.length);
  if (axis === undefined) throw mismatch(c, `axis ${getInt(c.node, 'axis', 0)} is not an axis of input ${c.describe(0)}`);
  const [values, positions] = [data.length === 1 ? c.elements(0) : undefined, c.elements(1)];
  const elements = values && positions?.map(at => (typeof at === 'number' ? values[at < 0 ? at + values.length : at] : undefined));
  return [known(c.dtype(0), [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)], elements)];
};

const gatherNd: InferFunction = c => {
  const [data, indices] = [c.dims(0), c.dims(1)];
  const depth = indices?.at(-1);
  if (data === undefined || indices === undefined || typeof depth !== 'number') return [known(c.dtype(0), undefined)];
  return [known(c.dtype(0), [...indices.slice(0, -1), ...data.slice(getInt(c.node, 'batch_dims', 0) + depth)])];
};

const pad: InferFunction = c => {
  const dims = c.dims(0);
  if (dims === undefined) return [known(c.dtype(0), undefined)];
  const pads = c.opset < 11 ? (findInts(c.node, 'pads') ?? findInts(c.node, 'paddings')) : c.elements(1);
  const axes = c.has(3) ? c.elements(3) : dims.map((_, axis) => axis);
  if (pads === undefined || axes === undefined) return [known(c.dtype(0), unknownDims(dims.length))];
  if (pads.length !== 2 * axes.length) throw mismatch(c, `${pads.length} pads for ${axes.length} axes of input ${c.describe(0)}`);
  const result = [...dims];
  for (const [index, given] of axes.entries()) {
    const axis = typeof given === 'number' ? resolveAxis(given, dims.length) : undefined;
    if (axis === undefined) return [known(c.dtype(0), unknownDims(dims.length))];
    result[axis] = addDims(dims[axis], addDims(pads[index], pads[index + axes.length]));
  }
  return [known(c.dtype(0), result)];
};

const expand: InferFunction = c => {
  const [dims, target] = [c.dims(0), c.elements(1)];
  const rank = c.dims(1)?.[0];
  if (target === undefined) {
    return [known(c.dtype(0), dims && typeof rank === 'number' ? unknownDims(Math.max(rank, dims.length)) : undefined)];
  }
  if (dims === undefined) return [known(c.dtype(0), undefined)];
  const width = Math.max(dims.length, target.length);
  const at = (list: readonly Dim[], axis: number): Dim => (axis < width - list.length ? 1 : list[axis - width + list.length]);
  return [
    known(
      c.dtype(0),
      Array.from({ length: width }, (_, axis) => expandDim(c, at(dims, axis), at(target, axis))),
    ),
  ];
};

function expandDim(c: NodeContext, size: Dim, target: Dim): Dim {
  if (size === target || target === 1) return size;
  if (size === 1) return target;
  if (typeof size === 'number' && typeof target === 'number') throw mismatch(c, `input ${c.describe(0)} cannot be expanded`);
  return typeof size === 'number' ? size : typeof target === 'number' ? target : undefined;
}

const tile: InferFunction = c => {
  const dims = c.dims(0);
  const repeats = c.elements(1);
  return [
    known(
      c.dtype(0),
      dims?.map((dim, axis) => multiplyDims(dim, repeats?.[axis])),
    ),
  ];
};

const topK: InferFunction = c => {
  const dims = c.dims(0);
  const k = c.opset < 10 ? getInt(c.node, 'k', 0) : c.elements(1)?.[0];
  const axis = dims && resolveAxis(getInt(c.node, 'axis', -1), dims.length);
  const result = dims?.map((dim, at) => (at === axis ? k : dim));
  return [known(c.dtype(0), result), known('int64', result)];
};

const oneHot: InferFunction = c => {
  const indices = c.dims(0);
  if (indices === undefined) return [known(c.dtype(2), undefined)];
  const axis = resolveAxis(getInt(c.node, 'axis', -1), indices.length + 1) ?? indices.length;
  const depth = c.elements(1)?.[0] ?? findFloats(c.constant(1))?.[0];
  return [known(c.dtype(2), [...indices.slice(0, axis), typeof depth === 'number' ? Math.trunc(depth) : depth, ...indices.slice(axis)])];
};

const likeData: InferFunction = c => [known(c.dtype(0), c.dims(0))];

export const SELECTION: InferTable = {
  Concat: concat,
  Split: split,
  Slice: slice,
  Gather: gather,
  GatherND: gatherNd,
  GatherElements: c => [known(c.dtype(0), c.dims(1))],
  ScatterElements: likeData,
  ScatterND: likeData,
  Scatter: likeData,
  Pad: pad,
  Expand: expand,
  Tile: tile,
  TopK: topK,
  OneHot: oneHot,
  NonZero: c => [known('int64', [c.dims(0)?.length, undefined])],
  Compress: c => {
    const dims = c.dims(0);
    const axis = c.node.attributes.has('axis') && dims ? resolveAxis(getInt(c.node, 'axis', 0), dims.length) : undefined;
    return [known(c.dtype(0), axis === undefined ? [undefined] : dims?.map((dim, at) => (at === axis ? undefined : dim)))];
  },
  NonMaxSuppression: () => [known('int64', [undefined, 3])],
};
