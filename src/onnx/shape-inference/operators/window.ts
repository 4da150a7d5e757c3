/** Shape inference of convolutions and pools, including global ones. (ONNX operator specifications, opsets 1 to 22.) */
import { findInts, getInt, getString } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { unknownDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch, type NodeContext } from '../context/node-context.js';

interface Window {
  readonly kernel: readonly Dim[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly pads: readonly number[];
  readonly autoPad: string;
}

function readWindow(c: NodeContext, kernel: readonly Dim[]): Window {
  const rank = kernel.length;
  const ones = new Array<number>(rank).fill(1);
  return {
    kernel,
    strides: findInts(c.node, 'strides') ?? ones,
    dilations: findInts(c.node, 'dilations') ?? ones,
    pads: findInts(c.node, 'pads') ?? new Array<number>(2 * rank).fill(0),
    autoPad: getString(c.node, 'auto_pad', 'NOTSET'),
  };
}

const isSame = ({ autoPad }: Window): boolean => autoPad === 'SAME_UPPER' || autoPad === 'SAME_LOWER';

/** Output dims of a sliding window. A last window that would start in the end padding is dropped, also with `ceil_mode`. */
function slide(c: NodeContext, sizes: readonly Dim[], window: Window): readonly Dim[] {
  const ceil = getInt(c.node, 'ceil_mode', 0) !== 0;
  return sizes.map((size, axis) => {
    const stride = window.strides[axis] ?? 1;
    const kernel = window.kernel[axis];
    if (typeof size !== 'number' || typeof kernel !== 'number') return undefined;
    if (isSame(window)) return Math.ceil(size / stride);
    const [before, after] = window.autoPad === 'VALID' ? [0, 0] : [window.pads[axis] ?? 0, window.pads[axis + sizes.length] ?? 0];
    const extent = (kernel - 1) * (window.dilations[axis] ?? 1) + 1;
    const free = size + before + after - extent;
    if (free < 0)
      throw mismatch(c, `a window of ${extent} is larger than axis ${axis + 2} of input ${c.describe(0)} with pads ${before}, ${after}`);
    const steps = ceil ? Math.ceil(free / stride) : Math.floor(free / stride);
    return ceil && steps * stride >= size + before ? steps : steps + 1;
  });
}

function checkChannels(c: NodeContext, weightIndex: number): void {
  const [x, w] = [c.dims(0), c.dims(weightIndex)];
  if (x !== undefined && w !== undefined && x.length !== w.length)
    throw mismatch(c, `weight ${c.describe(weightIndex)} and input ${c.describe(0)} have different ranks`);
  const [channels, perGroup, filters] = [x?.[1], w?.[1], w?.[0]];
  const group = getInt(c.node, 'group', 1);
  if (typeof channels === 'number' && typeof perGroup === 'number' && channels !== perGroup * group) {
    throw mismatch(c, `weight expects ${perGroup * group} input channels, input ${c.describe(0)} has ${channels}`);
  }
  if (typeof filters === 'number' && filters % group !== 0)
    throw mismatch(c, `weight ${c.describe(weightIndex)} has ${filters} output channels, not a multiple of group ${group}`);
}

function convolution(weightIndex: number, dtypeOf: (c: NodeContext) => ReturnType<NodeContext['dtype']>): InferFunction {
  return c => {
    const [x, w] = [c.dims(0), c.dims(weightIndex)];
    if (w !== undefined) checkChannels(c, weightIndex);
    const kernel = findInts(c.node, 'kernel_shape') ?? w?.slice(2);
    if (x === undefined || kernel === undefined) return [known(dtypeOf(c), x && [x[0], w?.[0], ...unknownDims(x.length - 2)])];
    return [known(dtypeOf(c), [x[0], w?.[0], ...slide(c, x.slice(2), readWindow(c, kernel))])];
  };
}

const convTranspose: InferFunction = c => {
  const [x, w] = [c.dims(0), c.dims(1)];
  if (x === undefined) return [known(c.dtype(0), undefined)];
  const [channels, filters] = [x[1], w?.[0]];
  if (typeof channels === 'number' && typeof filters === 'number' && channels !== filters)
    throw mismatch(c, `weight expects ${filters} input channels, input ${c.describe(0)} has ${channels}`);
  const group = getInt(c.node, 'group', 1);
  const out = typeof w?.[1] === 'number' ? w[1] * group : undefined;
  const kernel = findInts(c.node, 'kernel_shape') ?? w?.slice(2) ?? unknownDims(x.length - 2);
  const given = findInts(c.node, 'output_shape');
  return [known(c.dtype(0), [x[0], out, ...(given?.slice(-(x.length - 2)) ?? spread(c, x.slice(2), readWindow(c, kernel)))])];
};

function spread(c: NodeContext, sizes: readonly Dim[], window: Window): readonly Dim[] {
  const extra = findInts(c.node, 'output_padding') ?? [];
  return sizes.map((size, axis) => {
    const [stride, kernel] = [window.strides[axis] ?? 1, window.kernel[axis]];
    if (typeof size !== 'number' || typeof kernel !== 'number') return undefined;
    if (window.autoPad.startsWith('SAME')) return size * stride;
    const pads = (window.pads[axis] ?? 0) + (window.pads[axis + sizes.length] ?? 0);
    return stride * (size - 1) + (extra[axis] ?? 0) + (kernel - 1) * (window.dilations[axis] ?? 1) + 1 - pads;
  });
}

/**
 * The spatial dims of a pool with SAME padding and dilations are not inferred: by the specification, the output has ⌈size / stride⌉ elements, but ONNX Runtime
 * 1.30 pads for the window without dilation and returns fewer.
 */
const pool: InferFunction = c => {
  const x = c.dims(0);
  const kernel = findInts(c.node, 'kernel_shape');
  if (kernel === undefined) throw mismatch(c, 'attribute "kernel_shape" is missing');
  if (x !== undefined && x.length !== kernel.length + 2)
    throw mismatch(c, `kernel_shape [${kernel.join(', ')}] does not match input ${c.describe(0)}`);
  const window = readWindow(c, kernel);
  const isDisputed = isSame(window) && window.dilations.some(dilation => dilation !== 1);
  const dims = x && [x[0], x[1], ...(isDisputed ? unknownDims(x.length - 2) : slide(c, x.slice(2), window))];
  return c.node.outputs.map((_, index) => known(index === 0 ? c.dtype(0) : 'int64', dims));
};

const globalPool: InferFunction = c => {
  const x = c.dims(0);
  return [
    known(
      c.dtype(0),
      x?.map((dim, axis) => (axis < 2 ? dim : 1)),
    ),
  ];
};

const roiAlign: InferFunction = c => {
  const [x, rois] = [c.dims(0), c.dims(1)];
  return [known(c.dtype(0), [rois?.[0], x?.[1], getInt(c.node, 'output_height', 1), getInt(c.node, 'output_width', 1)])];
};

const maxRoiPool: InferFunction = c => {
  const [x, rois] = [c.dims(0), c.dims(1)];
  return [known(c.dtype(0), [rois?.[0], x?.[1], ...(findInts(c.node, 'pooled_shape') ?? [undefined, undefined])])];
};

export const WINDOW: InferTable = {
  Conv: convolution(1, c => c.dtype(0) ?? c.dtype(1)),
  ConvInteger: convolution(1, () => 'int32'),
  QLinearConv: convolution(3, c => c.dtype(7)),
  ConvTranspose: convTranspose,
  MaxPool: pool,
  AveragePool: pool,
  LpPool: pool,
  GlobalMaxPool: globalPool,
  GlobalAveragePool: globalPool,
  GlobalLpPool: globalPool,
  RoiAlign: roiAlign,
  MaxRoiPool: maxRoiPool,
};
