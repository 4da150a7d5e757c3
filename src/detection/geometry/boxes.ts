/** Areas, IoU, clipping and selection of boxes. Every operation is rounded to float32, so that results equal those of PyTorch. */

/** `x1 y1 x2 y2` per box, one after another: upper left and lower right corner, in pixels. */
export type Boxes = Float32Array;

export const countBoxes = (boxes: Boxes): number => boxes.length / 4;

const { fround } = Math;
const at = (values: Float32Array, index: number): number => values[index] as number;

/** Area of each box. */
export function boxAreas(boxes: Boxes): Float32Array {
  const areas = new Float32Array(countBoxes(boxes));
  for (let i = 0; i < areas.length; i++) {
    const from = 4 * i;
    areas[i] = fround(at(boxes, from + 2) - at(boxes, from)) * fround(at(boxes, from + 3) - at(boxes, from + 1));
  }
  return areas;
}

/** Intersection over union of box `i` of `a` and box `j` of `b`, given their areas; 0 where they do not overlap. */
export function boxIou(a: Boxes, areaA: number, i: number, b: Boxes, areaB: number, j: number): number {
  const [p, q] = [4 * i, 4 * j];
  const width = fround(Math.min(at(a, p + 2), at(b, q + 2)) - Math.max(at(a, p), at(b, q)));
  const height = fround(Math.min(at(a, p + 3), at(b, q + 3)) - Math.max(at(a, p + 1), at(b, q + 1)));
  if (width <= 0 || height <= 0) return 0;
  const shared = fround(width * height);
  return fround(shared / fround(fround(areaA + areaB) - shared));
}

/** IoU of all pairs, row-major [boxes of `a`, boxes of `b`]. */
export function boxIouMatrix(a: Boxes, b: Boxes): Float32Array {
  const [areasA, areasB] = [boxAreas(a), boxAreas(b)];
  const matrix = new Float32Array(areasA.length * areasB.length);
  for (let i = 0; i < areasA.length; i++)
    for (let j = 0; j < areasB.length; j++) matrix[i * areasB.length + j] = boxIou(a, at(areasA, i), i, b, at(areasB, j), j);
  return matrix;
}

/** Boxes clipped to 0…width and 0…height; a new array. */
export function clipBoxes(boxes: Boxes, size: { readonly height: number; readonly width: number }): Boxes {
  return boxes.map((value, index) => Math.min(Math.max(value, 0), index % 2 === 0 ? size.width : size.height));
}

/** Indices of the boxes with both sides of at least `minSize`. */
export function findLargeBoxes(boxes: Boxes, minSize: number): number[] {
  const side = fround(minSize);
  const large: number[] = [];
  for (let i = 0; i < countBoxes(boxes); i++) {
    const from = 4 * i;
    if (fround(at(boxes, from + 2) - at(boxes, from)) >= side && fround(at(boxes, from + 3) - at(boxes, from + 1)) >= side) large.push(i);
  }
  return large;
}

/** The boxes at `indices`, in the order of `indices`; a new array. */
export function gatherBoxes(boxes: Boxes, indices: ArrayLike<number>): Boxes {
  const gathered = new Float32Array(indices.length * 4);
  for (let i = 0; i < indices.length; i++) {
    const from = 4 * (indices[i] as number);
    for (let side = 0; side < 4; side++) gathered[4 * i + side] = at(boxes, from + side);
  }
  return gathered;
}
