/** The boundary of a mask: its pixels near its outline, whose overlap tells fine masks from coarse ones. */
import { roundHalfEven } from '../../base/round-half-even.js';
import { type Rle, rleBox, rleFromChanges } from './rle.js';

/** Width of the boundary, as a share of the image's diagonal. */
const SHARE = 0.02;

/**
 * The set pixels of which a pixel outside of the mask, or of the image, is at most `d` columns and at most `d` rows away:
 * d = round(0.02 · √(height² + width²)), half to even, at least 1.
 * @see Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation, CVPR 2021; there with 0.02 for COCO and LVIS.
 */
export function boundaryOf(mask: Rle): Rle {
  const { height, width } = mask;
  const d = Math.max(1, roundHalfEven(SHARE * Math.sqrt(height * height + width * width)));
  const [left, top, columns, rows] = rleBox(mask);
  const inner = shrinkRows(shrinkColumns(mask, { left, top, columns, rows }, d), columns, rows, d);
  const changes: number[] = [];
  forEachRun(mask, (column, start, end) => {
    let y = start;
    while (y < end) {
      // The set pixels of a run, without the inner ones.
      const from = y;
      while (y < end && inner[(column - left) * rows + y - top] === 0) y++;
      if (y > from) changes.push(column * height + from, column * height + y);
      while (y < end && inner[(column - left) * rows + y - top] === 1) y++;
    }
  });
  return rleFromChanges(height, width, Uint32Array.from(changes));
}

interface Frame {
  readonly left: number;
  readonly top: number;
  readonly columns: number;
  readonly rows: number;
}

/** Set pixels with `d` set pixels above and below, column-major in the frame. */
function shrinkColumns(mask: Rle, { left, top, columns, rows }: Frame, d: number): Uint8Array {
  const kept = new Uint8Array(columns * rows);
  forEachRun(mask, (column, start, end) => {
    const offset = (column - left) * rows - top;
    if (end - start > 2 * d) kept.fill(1, offset + start + d, offset + end - d);
  });
  return kept;
}

/** Of them, those with `d` kept pixels to the left and to the right. */
function shrinkRows(kept: Uint8Array, columns: number, rows: number, d: number): Uint8Array {
  const inner = new Uint8Array(columns * rows);
  for (let y = 0; y < rows; y++) {
    let length = 0;
    for (let x = 0; x < columns; x++) {
      length = kept[x * rows + y] === 1 ? length + 1 : 0;
      if (length > 2 * d) inner[(x - d) * rows + y] = 1;
    }
  }
  return inner;
}

/** Calls `visit` for each run of set pixels of each column, from row `start` to before `end`. */
function forEachRun({ height, counts }: Rle, visit: (column: number, start: number, end: number) => void): void {
  let at = 0;
  for (let run = 0; run < counts.length; run++) {
    const end = at + (counts[run] as number);
    if (run % 2 === 1) {
      for (let start = at; start < end; ) {
        const column = Math.floor(start / height);
        const last = Math.min(end, (column + 1) * height);
        visit(column, start - column * height, last - column * height);
        start = last;
      }
    }
    at = end;
  }
}
