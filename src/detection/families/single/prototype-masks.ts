/** Masks of YOLO's segmentation networks: coefficients times prototypes, resized to the image, cropped to the box, thresholded. */

import type { Placement } from '../../image/placement.js';
import { sampleAxis } from '../../image/resize.js';
import { makeRunWriter, type Rle } from '../../masks/rle.js';
import type { PrototypeMasks } from './decoder/candidates.js';

/**
 * The mask of each kept candidate. The cells of the prototypes that show the image, without padding, are resized bilinearly to the image; a pixel is set
 * where its value is above the threshold's logit and its coordinates are in the box: x1 ≤ x < x2, y1 ≤ y < y2.
 * @param boxes x1 y1 x2 y2 per kept candidate, in pixels of the image.
 * @see Ultralytics, process_mask_native and scale_masks.
 */
export function assemblePrototypeMasks(
  masks: PrototypeMasks,
  kept: readonly number[],
  boxes: Float32Array,
  placement: Placement,
): readonly Rle[] {
  const { coefficients, channels } = masks;
  const shown = findShown(masks, placement);
  const limit = Math.log(masks.threshold / (1 - masks.threshold));
  return kept.map((candidate, index) => {
    const plane = multiply(masks, coefficients.subarray(candidate * channels, (candidate + 1) * channels), shown);
    return pastePlane(plane, { shown, limit, box: boxes.subarray(4 * index, 4 * index + 4), image: placement.original });
  });
}

/** The cells that show the image; `right` and `bottom` are exclusive. */
interface Shown {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function findShown({ height, width }: PrototypeMasks, { left, top, original, scaleX, scaleY, input }: Placement): Shown {
  const [first, end] = shownOf(left, original.width * scaleX, input.width, width);
  const [upper, lower] = shownOf(top, original.height * scaleY, input.height, height);
  return { left: first, right: end, top: upper, bottom: lower };
}

/** Half a cell of padding counts as none, as Ultralytics rounds it. */
function shownOf(before: number, length: number, input: number, cells: number): readonly [number, number] {
  const scale = cells / input;
  const after = input - before - length;
  const start = Math.max(0, Math.round(before * scale - 0.1));
  const end = cells - Math.max(0, Math.round(after * scale + 0.1));
  return [Math.min(start, cells - 1), Math.max(end, Math.min(start, cells - 1) + 1)];
}

/** Coefficients times prototypes in the shown cells, [rows, columns]. */
function multiply({ data, channels, height, width }: PrototypeMasks, row: Float32Array, { left, top, right, bottom }: Shown): Float32Array {
  const columns = right - left;
  const plane = new Float32Array(columns * (bottom - top));
  for (let channel = 0; channel < channels; channel++) {
    const factor = row[channel] as number;
    for (let y = top; y < bottom; y++) {
      const from = (channel * height + y) * width + left;
      const to = (y - top) * columns;
      for (let x = 0; x < columns; x++) plane[to + x] = (plane[to + x] as number) + factor * (data[from + x] as number);
    }
  }
  return plane;
}

interface Pasting {
  readonly shown: Shown;
  readonly limit: number;
  readonly box: Float32Array;
  readonly image: { readonly height: number; readonly width: number };
}

function pastePlane(plane: Float32Array, { shown, limit, box, image }: Pasting): Rle {
  const columns = shown.right - shown.left;
  const [xs, ys] = [sampleAxis(columns, image.width), sampleAxis(shown.bottom - shown.top, image.height)];
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = box;
  const writer = makeRunWriter(image.height, image.width);
  const clamp = (value: number, most: number): number => Math.min(Math.max(Math.ceil(value), 0), most);
  const [first, end] = [clamp(x1, image.width), clamp(x2, image.width)];
  const [upper, lower] = [clamp(y1, image.height), clamp(y2, image.height)];
  writer.push(0, first * image.height);
  for (let x = first; x < end; x++) {
    const [a, b, weight] = [xs.low[x] as number, xs.high[x] as number, xs.weight[x] as number];
    writer.push(0, upper);
    for (let y = upper; y < lower; y++) {
      const [top, bottom] = [(ys.low[y] as number) * columns, (ys.high[y] as number) * columns];
      const across = (row: number): number => (plane[row + a] as number) * (1 - weight) + (plane[row + b] as number) * weight;
      const down = ys.weight[y] as number;
      writer.push(across(top) * (1 - down) + across(bottom) * down > limit ? 1 : 0, 1);
    }
    writer.push(0, image.height - Math.max(lower, upper));
  }
  return writer.finish();
}
