/** Pastes a small probability mask into the image: resizes it over its box, applies the threshold, and encodes run lengths. */

import type { ImageSize } from '../image/image-size.js';
import { sampleAxis } from '../image/resize.js';
import { makeRunWriter, type Rle, type RunWriter } from './rle.js';

export interface PasteOptions {
  /** Side of the square mask. */
  readonly size: number;
  /** Pixels above this probability are set. */
  readonly threshold: number;
  /** Size of the image that the mask is pasted into. */
  readonly image: ImageSize;
}

const { fround } = Math;

/**
 * Pastes one mask. The mask is padded with one zero on each side, and the box is enlarged to match. The box's corners are truncated to integers
 * X1 Y1 X2 Y2, the mask is resized bilinearly to X2 − X1 + 1 by Y2 − Y1 + 1, and clipped to the image. Only pixels inside the box are computed.
 *
 * @param probabilities `size` × `size` values, row-major.
 * @param box           x1 y1 x2 y2 in the image.
 * @see torchvision `paste_masks_in_image`, then `> threshold`.
 */
export function pasteMask(probabilities: Float32Array, box: ArrayLike<number>, options: PasteOptions): Rle {
  const { size, image } = options;
  const columns = placeAxis(box[0] as number, box[2] as number, size, image.width);
  const rows = placeAxis(box[1] as number, box[3] as number, size, image.height);
  const writer = makeRunWriter(image.height, image.width);
  if (!(columns.count > 0 && rows.count > 0)) return writer.finish();
  const bordered = addBorder(probabilities, size);
  const column = new Float32Array(size + 2);
  writer.push(0, columns.start * image.height);
  for (let x = 0; x < columns.count; x++) {
    blendColumn(column, bordered, columns, x);
    writer.push(0, rows.start);
    writeColumn(writer, column, rows, options.threshold);
    writer.push(0, image.height - rows.start - rows.count);
  }
  return writer.finish();
}

/** One axis of a pasted mask: `count` image positions from `start` on, and the sampling of the padded mask at each. */
interface PlacedAxis {
  readonly start: number;
  readonly count: number;
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly weight: Float32Array;
}

function placeAxis(low: number, high: number, size: number, limit: number): PlacedAxis {
  const center = fround(fround(high + low) * 0.5);
  const half = fround(fround(fround(high - low) * 0.5) * fround((size + 2) / size));
  const first = Math.trunc(fround(center - half));
  const last = Math.trunc(fround(center + half));
  const start = Math.max(first, 0);
  const end = Math.max(Math.min(last + 1, limit), start);
  const samples = sampleAxis(size + 2, Math.max(last - first + 1, 1), { start: start - first, end: end - first });
  return { start, count: end - start, ...samples };
}

function addBorder(probabilities: Float32Array, size: number): Float32Array {
  const side = size + 2;
  const bordered = new Float32Array(side * side);
  for (let row = 0; row < size; row++) bordered.set(probabilities.subarray(row * size, (row + 1) * size), (row + 1) * side + 1);
  return bordered;
}

/** One image column of the padded mask, at the rows of the mask. */
function blendColumn(column: Float32Array, bordered: Float32Array, columns: PlacedAxis, x: number): void {
  const side = column.length;
  const left = columns.low[x] as number;
  const right = columns.high[x] as number;
  const weight = columns.weight[x] as number;
  for (let row = 0; row < side; row++) {
    const from = row * side;
    column[row] = (bordered[from + left] as number) * (1 - weight) + (bordered[from + right] as number) * weight;
  }
}

/** Writes runs instead of single pixels. */
function writeColumn(writer: RunWriter, column: Float32Array, { low, high, weight, count }: PlacedAxis, threshold: number): void {
  let inside: 0 | 1 = 0;
  let start = 0;
  for (let y = 0; y < count; y++) {
    const share = weight[y] as number;
    const value = (column[low[y] as number] as number) * (1 - share) + (column[high[y] as number] as number) * share;
    const isSet = fround(value) > threshold ? 1 : 0;
    if (isSet === inside) continue;
    writer.push(inside, y - start);
    inside = isSet;
    start = y;
  }
  writer.push(inside, count - start);
}
