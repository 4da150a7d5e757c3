/** Which pixels belong to each object? Prototypes times coefficients, sigmoid, cropped to the box, resized to the image, cut at the threshold. */
import { sampleAxis } from '../resize.js';
import { makeRunWriter, type Rle, type RunWriter } from '../rle.js';
import type { ImageSize } from '../transform.js';

export interface Prototypes {
  /** [channels, height, width]: before ReLU. */
  readonly data: Float32Array;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

export interface MaskRequest {
  /** [objects, channels] */
  readonly coefficients: Float32Array;
  /** Relative to the image: x1 y1 x2 y2 per object. */
  readonly boxes: Float32Array;
  readonly image: ImageSize;
  /** Probability above which a pixel is set. */
  readonly threshold: number;
}

/** Cells around a box that its crop leaves, at the prototypes' resolution. */
const PADDING = 1;

/**
 * The masks of all objects, in the image: σ(C · ReLU(P)) as one product of coefficients and prototypes, of which only the cells inside an object's
 * crop are computed, as all others are zero.
 * @see dbolya/yolact output_utils.postprocess, box_utils.crop.
 */
export function assembleMasks(prototypes: Prototypes, { coefficients, boxes, image, threshold }: MaskRequest): Rle[] {
  const { channels, height, width } = prototypes;
  const positive = prototypes.data.map(value => (value > 0 ? value : 0));
  const columns = sampleAxis(width, image.width);
  const rows = sampleAxis(height, image.height);
  const plane = new Float32Array(height * width);
  return Array.from({ length: boxes.length / 4 }, (_, index) => {
    const crop = cropOf(boxes.subarray(4 * index, 4 * index + 4), prototypes);
    multiplyInto(plane, positive, coefficients.subarray(index * channels, (index + 1) * channels), crop, prototypes);
    const mask = paste(plane, { columns, rows, crop, image, threshold, width });
    clear(plane, crop, width);
    return mask;
  });
}

/** Cells from `left` and `top`, without `right` and `bottom`. */
interface Crop {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A cell is inside where its number is at least the padded box's low side and below its high side. */
function cropOf(box: Float32Array, { height, width }: Prototypes): Crop {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = box;
  const [left, right] = cropAxis(x1, x2, width);
  const [top, bottom] = cropAxis(y1, y2, height);
  return { left, right, top, bottom };
}

function cropAxis(a: number, b: number, cells: number): readonly [number, number] {
  const { fround } = Math;
  const [first, second] = [fround(a * cells), fround(b * cells)];
  const low = Math.max(fround(Math.min(first, second) - PADDING), 0);
  const high = Math.min(fround(Math.max(first, second) + PADDING), cells);
  const start = Math.min(Math.ceil(low), cells);
  return [start, Math.max(Math.ceil(high), start)];
}

/** Row `c` of C · P inside the crop, then its sigmoid. `plane` is zero there before. */
function multiplyInto(plane: Float32Array, positive: Float32Array, row: Float32Array, crop: Crop, { height, width }: Prototypes): void {
  for (const [channel, factor] of row.entries()) {
    const from = channel * height * width;
    for (let y = crop.top; y < crop.bottom; y++) {
      const end = y * width + crop.right;
      for (let at = y * width + crop.left; at < end; at++) plane[at] = (plane[at] as number) + factor * (positive[from + at] as number);
    }
  }
  for (let y = crop.top; y < crop.bottom; y++)
    for (let at = y * width + crop.left; at < y * width + crop.right; at++) plane[at] = 1 / (1 + Math.exp(-(plane[at] as number)));
}

function clear(plane: Float32Array, { left, right, top, bottom }: Crop, width: number): void {
  for (let y = top; y < bottom; y++) plane.fill(0, y * width + left, y * width + right);
}

type AxisSamples = ReturnType<typeof sampleAxis>;

interface Pasting {
  readonly columns: AxisSamples;
  readonly rows: AxisSamples;
  readonly crop: Crop;
  readonly image: ImageSize;
  readonly threshold: number;
  /** Of the plane. */
  readonly width: number;
}

/** Resizes the plane bilinearly to the image; columns and rows that see no cell of the crop are zero. */
function paste(plane: Float32Array, { columns, rows, crop, image, threshold, width }: Pasting): Rle {
  const writer = makeRunWriter(image.height, image.width);
  const across = reach(columns, crop.left, crop.right);
  const down = reach(rows, crop.top, crop.bottom);
  const column = new Float32Array(plane.length / width);
  writer.push(0, across.start * image.height);
  for (let x = across.start; x < across.end; x++) {
    const [left, right, weight] = [columns.low[x] as number, columns.high[x] as number, columns.weight[x] as number];
    for (let y = crop.top; y < crop.bottom; y++)
      column[y] = (plane[y * width + left] as number) * (1 - weight) + (plane[y * width + right] as number) * weight;
    writer.push(0, down.start);
    writeColumn(writer, column, rows, down, threshold);
    writer.push(0, image.height - down.end);
  }
  return writer.finish();
}

interface Reach {
  readonly start: number;
  readonly end: number;
}

/** The positions that take a value from a cell of low ≤ cell < high: they follow one another, as both sides of a sample only grow. */
function reach({ low, high }: AxisSamples, from: number, to: number): Reach {
  let start = 0;
  while (start < high.length && (high[start] as number) < from) start++;
  let end = start;
  while (from < to && end < low.length && (low[end] as number) < to) end++;
  return { start, end };
}

function writeColumn(writer: RunWriter, column: Float32Array, rows: AxisSamples, { start, end }: Reach, threshold: number): void {
  for (let y = start; y < end; y++) {
    const weight = rows.weight[y] as number;
    const value = (column[rows.low[y] as number] as number) * (1 - weight) + (column[rows.high[y] as number] as number) * weight;
    writer.push(Math.fround(value) > threshold ? 1 : 0, 1);
  }
}
