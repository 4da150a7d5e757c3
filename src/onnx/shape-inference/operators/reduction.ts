/** Shape inference of reductions, ArgMax and ArgMin. */
import { getInt } from '../../ir/attribute.js';
import { productOf, resolveAxis } from '../context/dims.js';
import { type InferFunction, type InferTable, known } from '../context/node-context.js';
import { readAxes } from './layout.js';

/** `axesInput`: the opset from which on the axes are an input. */
function reduction(axesInput: number, fold: 'product' | 'none' = 'none'): InferFunction {
  return c => {
    const dims = c.dims(0);
    const axes = readAxes(c, axesInput);
    const keeps = getInt(c.node, 'keepdims', 1) !== 0;
    const none = axes === 'absent' || axes?.length === 0;
    if (none && getInt(c.node, 'noop_with_empty_axes', 0) !== 0) return [known(c.dtype(0), dims)];
    if (dims === undefined || axes === undefined) return [known(c.dtype(0), dims && keeps ? dims.map(() => undefined) : undefined)];
    const reduced = none ? dims.map((_, axis) => axis) : axes.map(axis => resolveAxis(axis, dims.length));
    const result = keeps ? dims.map((dim, axis) => (reduced.includes(axis) ? 1 : dim)) : dims.filter((_, axis) => !reduced.includes(axis));
    const elements = c.elements(0);
    const all = fold === 'product' && dims.length === 1 && elements !== undefined ? [productOf(elements)] : undefined;
    return [known(c.dtype(0), result, all)];
  };
}

const argument: InferFunction = c => {
  const dims = c.dims(0);
  const axis = dims && resolveAxis(getInt(c.node, 'axis', 0), dims.length);
  const keeps = getInt(c.node, 'keepdims', 1) !== 0;
  const result = keeps ? dims?.map((dim, at) => (at === axis ? 1 : dim)) : dims?.filter((_, at) => at !== axis);
  return [known('int64', result)];
};

export const REDUCTION: InferTable = {
  ReduceSum: reduction(13),
  ReduceProd: reduction(18, 'product'),
  ...Object.fromEntries(
    ['ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1', 'ReduceL2', 'ReduceLogSum', 'ReduceLogSumExp', 'ReduceSumSquare'].map(name => [
      name,
      reduction(18),
    ]),
  ),
  ArgMax: argument,
  ArgMin: argument,
};
