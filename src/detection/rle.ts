/** How is a mask kept small? As COCO's run lengths: down the columns, zeros first. */
import { DetectionError } from './detection-error.js';

/**
 * A binary mask. `counts` are run lengths in column-major order, the first of zeros (0 where the first pixel is set), then ones and zeros in turn;
 * no other run is empty, and they add up to height · width.
 */
export interface Rle {
  readonly height: number;
  readonly width: number;
  readonly counts: Uint32Array;
}

/** Collects runs into an Rle; neighbouring runs of one value join. */
export interface RunWriter {
  /** Appends `length` pixels, in column-major order. */
  push(value: 0 | 1, length: number): void;
  /** The mask; pixels that were not pushed are zero. */
  finish(): Rle;
}

/** A writer for one mask of `height` × `width`. Whoever pushes more pixels than that gets the error from `finish`: `rle-size`. */
export function makeRunWriter(height: number, width: number): RunWriter {
  const counts: number[] = [0];
  let total = 0;
  const push = (value: 0 | 1, length: number): void => {
    if (length === 0) return;
    total += length;
    if ((counts.length - 1) % 2 === value) counts[counts.length - 1] = (counts[counts.length - 1] as number) + length;
    else counts.push(length);
  };
  return {
    push,
    finish() {
      if (total > height * width)
        throw new DetectionError('rle-size', `run lengths add up to ${total} pixels, the mask has ${height}×${width} = ${height * width}`);
      push(0, height * width - total);
      return { height, width, counts: Uint32Array.from(counts) };
    },
  };
}

/** The mask with these run lengths, empty runs joined away; missing pixels at the end are zero. @throws DetectionError `rle-size` where they are too long. */
export function makeRle(height: number, width: number, counts: ArrayLike<number>): Rle {
  const writer = makeRunWriter(height, width);
  for (let i = 0; i < counts.length; i++) writer.push(i % 2 === 0 ? 0 : 1, counts[i] as number);
  return writer.finish();
}

/** Encodes a row-major mask; every non-zero element is set. */
export function encodeMask(mask: ArrayLike<number>, height: number, width: number): Rle {
  const writer = makeRunWriter(height, width);
  for (let x = 0; x < width; x++) for (let y = 0; y < height; y++) writer.push(mask[y * width + x] ? 1 : 0, 1);
  return writer.finish();
}

/** The row-major mask of zeros and ones. */
export function decodeMask({ height, width, counts }: Rle): Uint8Array {
  const mask = new Uint8Array(height * width);
  let end = 0;
  counts.forEach((length, run) => {
    end += length;
    if (run % 2 === 0) return;
    for (let i = end - length; i < end; i++) mask[(i % height) * width + Math.floor(i / height)] = 1;
  });
  return mask;
}

/** Number of pixels set. */
export function rleArea({ counts }: Rle): number {
  let area = 0;
  for (let run = 1; run < counts.length; run += 2) area += counts[run] as number;
  return area;
}

/** The smallest box around the pixels set: x, y, width, height; all 0 where none is. */
export function rleBox({ height, counts }: Rle): readonly [number, number, number, number] {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1];
  let start = 0;
  counts.forEach((length, run) => {
    const last = start + length - 1;
    if (run % 2 === 1) {
      const [firstColumn, lastColumn] = [Math.floor(start / height), Math.floor(last / height)];
      left = Math.min(left, firstColumn);
      right = Math.max(right, lastColumn);
      top = firstColumn === lastColumn ? Math.min(top, start % height) : 0;
      bottom = firstColumn === lastColumn ? Math.max(bottom, last % height) : height - 1;
    }
    start += length;
  });
  return right < 0 ? [0, 0, 0, 0] : [left, top, right - left + 1, bottom - top + 1];
}
