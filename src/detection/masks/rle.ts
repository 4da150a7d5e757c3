/** How is a mask kept small? As COCO's run lengths: down the columns, zeros first. */
import { DetectionError } from '../error/detection-error.js';

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

/** The mask that turns from zero to one, or back, at each of these column-major places, which rise; two at one place cancel out. Places from height · width on are of no account. */
export function rleFromChanges(height: number, width: number, changes: Uint32Array): Rle {
  const counts = new Uint32Array(changes.length + 1);
  const total = height * width;
  let runs = 0;
  let before = 0;
  for (let i = 0; i < changes.length && (changes[i] as number) < total; i++) {
    const place = changes[i] as number;
    if (runs > 0 && place === before) {
      runs--;
      before -= counts[runs] as number;
      continue;
    }
    counts[runs++] = place - before;
    before = place;
  }
  counts[runs++] = total - before;
  return { height, width, counts: runs === counts.length ? counts : counts.slice(0, runs) };
}

/** Encodes a row-major mask; every non-zero element is set. */
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

/** Number of pixels set. */
export function rleArea({ counts }: Rle): number {
  let area = 0;
  for (let run = 1; run < counts.length; run += 2) area += counts[run] as number;
  return area;
}

/** The smallest box around the pixels set: x, y, width, height; all 0 where none is. */
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
