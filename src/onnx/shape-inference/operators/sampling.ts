/** Shape inference of image sampling operators: grids, columns, deformable convolution, cropping, unpooling; and of Unique. */
import { findInts, getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { divideDims, productOf, resolveAxis } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch } from '../context/node-context.js';

const gridSample: InferFunction = c => {
  const [x, grid] = [c.dims(0), c.dims(1)];
  return [known(c.dtype(0), x && grid && [x[0], x[1], ...grid.slice(1, -1)])];
};

const affineGrid: InferFunction = c => {
  const size = c.elements(1);
  return [known(c.dtype(0), size && [size[0], ...size.slice(2), size.length - 2])];
};

const col2Im: InferFunction = c => {
  const [x, image, block] = [c.dims(0), c.elements(1), c.elements(2)];
  if (x === undefined || image === undefined) return [known(c.dtype(0), undefined)];
  return [known(c.dtype(0), [x[0], divideDims(x[1], block && productOf(block)), ...image])];
};

/** The spatial dims of the offsets are those of the output. */
const deformConv: InferFunction = c => {
  const [x, w, offset] = [c.dims(0), c.dims(1), c.dims(2)];
  return [known(c.dtype(0), x && offset && [x[0], w?.[0], ...offset.slice(2)])];
};

const centerCropPad: InferFunction = c => {
  const [x, shape] = [c.dims(0), c.elements(1)];
  if (x === undefined) return [known(c.dtype(0), undefined)];
  const axes = findInts(c.node, 'axes') ?? x.map((_, axis) => axis);
  const result: Dim[] = [...x];
  for (const [index, given] of axes.entries()) {
    const axis = resolveAxis(given, x.length);
    if (axis === undefined) throw mismatch(c, `axis ${given} is not an axis of input ${c.describe(0)}`);
    result[axis] = shape?.[index];
  }
  return [known(c.dtype(0), result)];
};

const maxUnpool: InferFunction = c => {
  const x = c.dims(0);
  const kernel = findInts(c.node, 'kernel_shape');
  if (c.has(2)) return [known(c.dtype(0), c.elements(2))];
  if (x === undefined || kernel === undefined) return [known(c.dtype(0), undefined)];
  const strides = findInts(c.node, 'strides') ?? kernel.map(() => 1);
  const pads = findInts(c.node, 'pads') ?? [];
  const sizes = x.slice(2).map((size, axis): Dim => {
    const cut = (pads[axis] ?? 0) + (pads[axis + kernel.length] ?? 0);
    return typeof size === 'number' ? (size - 1) * (strides[axis] ?? 1) + (kernel[axis] ?? 1) - cut : undefined;
  });
  return [known(c.dtype(0), [x[0], x[1], ...sizes])];
};

const unique: InferFunction = c => {
  const x = c.dims(0);
  const flat = !c.node.attributes.has('axis');
  const axis = flat || x === undefined ? 0 : resolveAxis(getInt(c.node, 'axis', 0), x.length);
  const values = flat ? [undefined] : x?.map((dim, at) => (at === axis ? undefined : dim));
  const inverse = x && [flat ? productOf(x) : x[axis ?? 0]];
  const shapes = [values, [undefined], inverse, [undefined]];
  return c.node.outputs.map((_, index) => known(index === 0 ? c.dtype(0) : 'int64', shapes[index]));
};

export const SAMPLING: InferTable = {
  GridSample: gridSample,
  AffineGrid: affineGrid,
  Col2Im: col2Im,
  DeformConv: deformConv,
  CenterCropPad: centerCropPad,
  MaxUnpool: maxUnpool,
  Unique: unique,
};
