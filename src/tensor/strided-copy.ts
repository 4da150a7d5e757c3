/** Copying of strided views into row-major order. The caller has checked that all elements are inside the source. */
import { countElements, type Shape } from './shape.js';

export interface StridedView {
  readonly itemBytes: number;
  /** Offset of the first element, in elements. */
  readonly offset: number;
  readonly dims: Shape;
  /** In elements, ≥ 0, one per axis. */
  readonly strides: readonly number[];
}

/** Whether the view is row-major without gaps. Axes of size 1 are ignored. */
export function isContiguous({ dims, strides }: Pick<StridedView, 'dims' | 'strides'>): boolean {
  let expected = 1;
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    const dim = dims[axis] ?? 1;
    if (dim !== 1 && strides[axis] !== expected) return false;
    expected *= dim;
  }
  return true;
}

/** The elements of the view in row-major order, in a new buffer. */
export function makeStridedCopy(source: Uint8Array, view: StridedView): Uint8Array {
  const result = new Uint8Array(countElements(view.dims) * view.itemBytes);
  const unit = view.itemBytes >= 4 ? 4 : view.itemBytes;
  const from = unitsOf(source, unit);
  const to = unitsOf(result, unit);
  const perItem = view.itemBytes / unit;
  const [dims, strides] =
    perItem === 1
      ? [view.dims, view.strides]
      : [
          [...view.dims, perItem],
          [...view.strides.map(stride => stride * perItem), 1],
        ];
  gather(from, to, { offset: view.offset * perItem, dims, strides });
  return result;
}

type Units = Uint8Array | Uint16Array | Uint32Array;

function unitsOf(bytes: Uint8Array, unit: number): Units {
  if (unit === 1) return bytes;
  const aligned = bytes.byteOffset % unit === 0 ? bytes : new Uint8Array(bytes);
  const length = Math.floor(aligned.byteLength / unit);
  return unit === 2
    ? new Uint16Array(aligned.buffer, aligned.byteOffset, length)
    : new Uint32Array(aligned.buffer, aligned.byteOffset, length);
}

function gather(from: Units, to: Units, view: Omit<StridedView, 'itemBytes'>): void {
  const rank = view.dims.length;
  const inner = view.dims[rank - 1] ?? 1;
  const step = view.strides[rank - 1] ?? 0;
  const index = new Array<number>(rank).fill(0);
  let start = view.offset;
  for (let at = 0; at < to.length; ) {
    for (let i = 0, source = start; i < inner; i++, source += step) to[at++] = from[source] as number;
    for (let axis = rank - 2; axis >= 0; axis--) {
      const stride = view.strides[axis] as number;
      index[axis] = (index[axis] as number) + 1;
      start += stride;
      if ((index[axis] as number) < (view.dims[axis] as number)) break;
      start -= stride * (view.dims[axis] as number);
      index[axis] = 0;
    }
  }
}
