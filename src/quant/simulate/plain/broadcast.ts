/** Element-wise operators on two arrays with the broadcasting of ONNX. */
import { countElements, type Shape } from '../../../tensor/shape.js';
import type { Values } from './window-sums.js';

/** Shape of the result; undefined if the shapes do not fit. */
function shapeOf(a: Shape, b: Shape): Shape | undefined {
  const rank = Math.max(a.length, b.length);
  const dims: number[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const [x = 1, y = 1] = [a[axis - rank + a.length], b[axis - rank + b.length]];
    if (x !== y && x !== 1 && y !== 1) return undefined;
    dims.push(x === 1 ? y : x);
  }
  return dims;
}

/** f(a, b) for each element; undefined if the shapes do not fit. */
export function mapPairs(a: Values, b: Values, f: (a: number, b: number) => number): { dims: Shape; data: Float64Array } | undefined {
  const dims = shapeOf(a.dims, b.dims);
  if (dims === undefined) return undefined;
  const [stepsA, stepsB] = [stepsOf(a.dims, dims), stepsOf(b.dims, dims)];
  const data = new Float64Array(countElements(dims));
  const index = dims.map(() => 0);
  let [at, from] = [0, 0];
  for (let i = 0; i < data.length; i++) {
    data[i] = f(a.data[at] as number, b.data[from] as number);
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      const [stepA = 0, stepB = 0, size = 1] = [stepsA[axis], stepsB[axis], dims[axis]];
      const next = (index[axis] ?? 0) + 1;
      at += stepA;
      from += stepB;
      if (next < size) {
        index[axis] = next;
        break;
      }
      index[axis] = 0;
      at -= stepA * size;
      from -= stepB * size;
    }
  }
  return { dims, data };
}

/** Elements to move per step along each axis of `dims`; 0 where the array repeats. */
function stepsOf(own: Shape, dims: Shape): readonly number[] {
  return dims.map((_, axis) => {
    const ownAxis = axis - dims.length + own.length;
    const size = own[ownAxis] ?? 1;
    return size === 1 ? 0 : countElements(own.slice(ownAxis + 1));
  });
}
