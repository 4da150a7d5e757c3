/** Binary masks as COCO run lengths: column-major, zeros first. */
import { DetectionError } from '../error/detection-error.js';

/**
 * A binary mask. `counts` are run lengths in column-major order. The first run is of zeros, and empty where the first pixel is set; then runs of ones
 * and zeros alternate. No other run is empty. The sum is height · width.
 */
export interface Rle {
  readonly height: number;
  readonly width: number;
  readonly counts: Uint32Array;
}

/** Collects runs into an Rle and merges adjacent runs of equal value. */
export interface RunWriter {
  /** Appends `length` pixels, in column-major order. */
  push(value: 0 | 1, length: number): void;
  /** The mask. Remaining pixels are zero. @throws DetectionError `rle-size` where more pixels were pushed than the mask has. */
  finish(): Rle;
}

/** A writer of one mask of `height` × `width`. */
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

/** The mask with these run lengths. Empty runs are merged, and missing pixels at the end are zero. @throws DetectionError `rle-size` where the sum exceeds the mask. */
export function makeRle(height: number, width: number, counts: ArrayLike<number>): Rle {
  const writer = makeRunWriter(height, width);
  for (let i = 0; i < counts.length; i++) writer.push(i % 2 === 0 ? 0 : 1, counts[i] as number);
  return writer.finish();
}

/** The mask that toggles between zero and one at each of these ascending column-major positions. Two equal positions cancel out. Positions from height · width on are ignored. */
export function rleFromChanges(height: number, width: number, changes: Uint32Array): Rle {
  const counts = new Uint32Array(changes.length + 1);
  const total = height * width;
  let runs = 0;
  let before = 0;
  for (let i = 0; i < changes.length && (changes[i] as number) < total; i++) {
    const position = changes[i] as number;
    if (runs > 0 && position === before) {
      runs--;
      before -= counts[runs] as number;
      continue;
    }
    counts[runs++] = position - before;
    before = position;
  }
  counts[runs++] = total - before;
  return { height, width, counts: runs === counts.length ? counts : counts.slice(0, runs) };
}

/** Encodes a row-major mask. Non-zero elements are set. */
export function encodeMask(mask: ArrayLike<number>, height: number, width: number): Rle {
  const changes: number[] = [];
  let last = false;
  for (let x = 0; x < width; x++) {
    for (let y = 0, at = x; y < height; y++, at += width) {
      const isSet = Boolean(mask[at]);
      if (isSet === last) continue;
      changes.push(x * height + y);
      last = isSet;
    }
  }
  return rleFromChanges(height, width, Uint32Array.from(changes));
}

/** The row-major mask of zeros and ones. */
export function decodeMask({ height, width, counts }: Rle): Uint8Array {
  const mask = new Uint8Array(height * width);
  let start = 0;
  for (let run = 0; run < counts.length; run++) {
    const end = start + (counts[run] as number);
    if (run % 2 === 1) {
      let x = Math.floor(start / height);
      for (let i = start, y = start - x * height; i < end; i++) {
        mask[y * width + x] = 1;
        if (++y < height) continue;
        y = 0;
        x++;
      }
    }
    start = end;
  }
  return mask;
}

/** Number of set pixels. */
export function rleArea({ counts }: Rle): number {
  let area = 0;
  for (let run = 1; run < counts.length; run += 2) area += counts[run] as number;
  return area;
}

/** Bounding box of the set pixels: x, y, width, height; all 0 for an empty mask. */
export function rleBox({ height, width, counts }: Rle): readonly [number, number, number, number] {
  let left = width;
  let top = height;
  let right = -1;
  let bottom = -1;
  let start = 0;
  for (let run = 0; run < counts.length; run++) {
    const length = counts[run] as number;
    if (run % 2 === 1) {
      const last = start + length - 1;
      const [firstColumn, lastColumn] = [Math.floor(start / height), Math.floor(last / height)];
      left = Math.min(left, firstColumn);
      right = Math.max(right, lastColumn);
      const isOneColumn = firstColumn === lastColumn;
      top = Math.min(top, isOneColumn ? start - firstColumn * height : 0);
      bottom = Math.max(bottom, isOneColumn ? last - lastColumn * height : height - 1);
    }
    start += length;
  }
  return right < 0 ? [0, 0, 0, 0] : [left, top, right - left + 1, bottom - top + 1];
}
