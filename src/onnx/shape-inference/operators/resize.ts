/** Shape inference of Resize and Upsample. (ONNX Resize, opsets 10 to 19; Upsample, opsets 7 and 9.) */
import { findInts, getString } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { findFloats } from '../context/constant-elements.js';
import { resolveAxis, unknownDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch, type NodeContext } from '../context/node-context.js';

/** floor(size × scale), with the product in single precision as in ONNX Runtime and onnx. */
function scaled(size: Dim, scale: number | undefined): Dim {
  if (scale === 1) return size;
  return typeof size === 'number' && scale !== undefined ? Math.floor(Math.fround(Math.fround(size) * Math.fround(scale))) : undefined;
}

const resize: InferFunction = c => {
  const dims = c.dims(0);
  if (dims === undefined) return [known(c.dtype(0), undefined)];
  const [scalesAt, sizesAt] = c.opset < 11 ? [1, -1] : [2, 3];
  if (c.opset >= 13 && !c.has(scalesAt) && !c.has(sizesAt)) throw mismatch(c, 'it has neither scales nor sizes');
  const axes = (findInts(c.node, 'axes') ?? dims.map((_, axis) => axis)).map(axis => resolveAxis(axis, dims.length) ?? 0);
  const sizes = sizesAt > 0 && c.has(sizesAt) ? c.elements(sizesAt) : undefined;
  if (sizes !== undefined && sizes.length > 0) return [known(c.dtype(0), bySizes(c, dims, sizes, axes))];
  const scales = c.has(scalesAt) ? findFloats(c.constant(scalesAt)) : undefined;
  if (scales === undefined || scales.length === 0) return [known(c.dtype(0), unknownDims(dims.length))];
  if (scales.length !== axes.length) throw mismatch(c, `${scales.length} scales for ${axes.length} axes of input ${c.describe(0)}`);
  const result = [...dims];
  for (const [index, axis] of axes.entries()) result[axis] = scaled(dims[axis], scales[index]);
  return [known(c.dtype(0), result)];
};

function bySizes(c: NodeContext, dims: readonly Dim[], sizes: readonly Dim[], axes: readonly number[]): readonly Dim[] {
  if (sizes.length !== axes.length) throw mismatch(c, `${sizes.length} sizes for ${axes.length} axes of input ${c.describe(0)}`);
  const policy = getString(c.node, 'keep_aspect_ratio_policy', 'stretch');
  const result = [...dims];
  if (policy === 'stretch') {
    for (const [index, axis] of axes.entries()) result[axis] = sizes[index];
    return result;
  }
  const ratios = axes.map((axis, index) => Number(sizes[index]) / Number(dims[axis]));
  const scale = policy === 'not_larger' ? Math.min(...ratios) : Math.max(...ratios);
  for (const axis of axes) result[axis] = Number.isFinite(scale) ? Math.round(Number(dims[axis]) * scale) : undefined;
  return result;
}

const upsample: InferFunction = c => {
  const dims = c.dims(0);
  const attribute = c.node.attributes.get('scales');
  const scales = attribute?.kind === 'floats' ? attribute.value : findFloats(c.constant(1));
  return [
    known(
      c.dtype(0),
      dims?.map((dim, axis) => scaled(dim, scales?.[axis])),
    ),
  ];
};

export const RESIZE: InferTable = { Resize: resize, Upsample: upsample };
