/** Assembles masks: prototypes times coefficients, sigmoid, cropped to the box, resized to the image, and thresholded. */

import type { ImageSize } from '../../image/image-size.js';
import { type AxisSamples, sampleAxis } from '../../image/resize.js';
import { makeRunWriter, type Rle, type RunWriter } from '../../masks/rle.js';

export interface Prototypes {
  /** [channels, height, width], before ReLU. */
  readonly data: Float32Array;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

export interface MaskRequest {
  /** [objects, channels] */
  readonly coefficients: Float32Array;
  /** x1 y1 x2 y2 per object, as fractions of the image. */
  readonly boxes: Float32Array;
  readonly image: ImageSize;
  /** Pixels above this probability are set. */
  readonly threshold: number;
}

/** Padding of the crop around a box, in prototype cells. */
const PADDING = 1;

/**
 * The masks of all objects in the image: σ(C · ReLU(P)), the product of coefficients and prototypes. Only cells inside an object's crop are computed,
 * because all others are zero.
 * @see dbolya/yolact output_utils.postprocess, box_utils.crop.
 */
export function assembleMasks(prototypes: Prototypes, { coefficients, boxes, image, threshold }: MaskRequest): Rle[] {
  const { channels, height, width } = prototypes;
  const positive = relu(prototypes.data);
  const columns = placeCells(width, image.width);
  const rows = placeCells(height, image.height);
  const plane = new Float32Array(height * width);
  return Array.from({ length: boxes.length / 4 }, (_, index) => {
    const crop = cropOf(boxes.subarray(4 * index, 4 * index + 4), prototypes);
    multiplyInto(plane, positive, coefficients.subarray(index * channels, (index + 1) * channels), crop, prototypes);
    const mask = paste(plane, { columns, rows, crop, image, threshold, width });
    clear(plane, crop, width);
    return mask;
  });
}

function relu(values: Float32Array): Float32Array {
  const positive = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) positive[i] = Math.max(values[i] as number, 0);
  return positive;
}

/** Range of cells; `right` and `bottom` are exclusive. */
interface Crop {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A cell is inside where its index is at least the low side of the padded box and below its high side. */
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

/** Computes one row of C · P inside the crop, four products at a time, then the sigmoid. `plane` must be zero inside the crop. */
function multiplyInto(plane: Float32Array, positive: Float32Array, row: Float32Array, crop: Crop, { height, width }: Prototypes): void {
  const area = height * width;
  for (let channel = 0; channel < row.length; channel += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = row.subarray(channel, channel + 4);
    // Beyond the last channel the factor is 0, so any prototype can be used.
    const start = (offset: number): number => Math.min(channel + offset, row.length - 1) * area;
    const [p, q, r, s] = [start(0), start(1), start(2), start(3)];
    for (let y = crop.top; y < crop.bottom; y++) {
      const end = y * width + crop.right;
      for (let at = y * width + crop.left; at < end; at++)
        plane[at] =
          (plane[at] as number) +
          a * (positive[p + at] as number) +
          b * (positive[q + at] as number) +
          c * (positive[r + at] as number) +
          d * (positive[s + at] as number);
    }
  }
  for (let y = crop.top; y < crop.bottom; y++)
    for (let at = y * width + crop.left; at < y * width + crop.right; at++) plane[at] = 1 / (1 + Math.exp(-(plane[at] as number)));
}

function clear(plane: Float32Array, { left, right, top, bottom }: Crop, width: number): void {
  for (let y = top; y < bottom; y++) plane.fill(0, y * width + left, y * width + right);
}

/** Sampling of one axis, and the image positions between each cell and the next. */
interface PlacedCells extends AxisSamples {
  /** Per cell, the first position that has it as lower cell; one more entry for the end. */
  readonly first: Int32Array;
}

function placeCells(cells: number, positions: number): PlacedCells {
  const samples = sampleAxis(cells, positions);
  const first = new Int32Array(cells + 1);
  let position = 0;
  for (let cell = 0; cell <= cells; cell++) {
    while (position < positions && (samples.low[position] as number) < cell) position++;
    first[cell] = position;
  }
  return { ...samples, first };
}

interface Pasting {
  readonly columns: PlacedCells;
  readonly rows: PlacedCells;
  readonly crop: Crop;
  readonly image: ImageSize;
  readonly threshold: number;
  /** Width of the plane. */
  readonly width: number;
}

/**
 * Resizes the plane bilinearly to the image and applies the threshold. Positions between cells on the same side of the threshold are on that side too,
 * so only positions between cells on different sides are computed.
 */
function paste(plane: Float32Array, { columns, rows, crop, image, threshold, width }: Pasting): Rle {
  const writer = makeRunWriter(image.height, image.width);
  if (crop.left >= crop.right || crop.top >= crop.bottom) return writer.finish();
  const above = findColumnsAbove(plane, crop, width, threshold);
  const column = new Float32Array(plane.length / width);
  const [start, end] = [columns.first[Math.max(crop.left - 1, 0)] as number, columns.first[crop.right] as number];
  writer.push(0, start * image.height);
  for (let x = start; x < end; x++) {
    const left = columns.low[x] as number;
    const right = columns.high[x] as number;
    const weight = columns.weight[x] as number;
    if (above[left] === 0 && above[right] === 0) {
      writer.push(0, image.height);
      continue;
    }
    for (let y = crop.top; y < crop.bottom; y++)
      column[y] = (plane[y * width + left] as number) * (1 - weight) + (plane[y * width + right] as number) * weight;
    writeColumn(writer, column, { rows, crop, threshold, height: image.height });
  }
  return writer.finish();
}

/** 1 for the columns of the plane with a value above the threshold. */
function findColumnsAbove(plane: Float32Array, { left, right, top, bottom }: Crop, width: number, threshold: number): Uint8Array {
  const above = new Uint8Array(width);
  for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) if ((plane[y * width + x] as number) > threshold) above[x] = 1;
  return above;
}

/** Writes one column of the image from a column of cells, as runs instead of single pixels. */
function writeColumn(
  writer: RunWriter,
  column: Float32Array,
  { rows, crop, threshold, height }: { rows: PlacedCells; crop: Crop; threshold: number; height: number },
): void {
  let inside: 0 | 1 = 0;
  let start = 0;
  for (let cell = Math.max(crop.top - 1, 0); cell < crop.bottom; cell++) {
    const low = column[cell] as number;
    const high = column[Math.min(cell + 1, column.length - 1)] as number;
    const end = rows.first[cell + 1] as number;
    const mixed = low > threshold !== high > threshold;
    // Where both cells are on the same side, the first position decides for all.
    for (let y = rows.first[cell] as number; y < end; y = mixed ? y + 1 : end) {
      const weight = rows.weight[y] as number;
      const value = mixed ? Math.fround(low * (1 - weight) + high * weight) : low;
      const isSet = value > threshold ? 1 : 0;
      if (isSet === inside) continue;
      writer.push(inside, y - start);
      inside = isSet;
      start = y;
    }
  }
  const end = rows.first[crop.bottom] as number;
  writer.push(inside, end - start);
  writer.push(0, height - end);
}
