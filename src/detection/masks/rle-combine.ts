/** Intersection, union and IoU of masks, computed on run lengths. */
import { DetectionError } from '../error/detection-error.js';
import { makeRle, makeRunWriter, type Rle, rleArea } from './rle.js';

/** Number of pixels set in both masks. @throws DetectionError `rle-mismatch` where the sizes differ. */
export function intersectionArea(a: Rle, b: Rle): number {
  checkSizes(a, b);
  const [runsA, runsB] = [a.counts, b.counts];
  let i = 0;
  let j = 0;
  let area = 0;
  // Ends of the current runs, and the start of the current segment.
  let endA = runsA[0] ?? 0;
  let endB = runsB[0] ?? 0;
  let position = 0;
  while (i < runsA.length && j < runsB.length) {
    const end = endA < endB ? endA : endB;
    if ((i & j & 1) === 1) area += end - position;
    position = end;
    if (endA === end) endA += runsA[++i] ?? 0;
    if (endB === end) endB += runsB[++j] ?? 0;
  }
  return area;
}

/** The mask of pixels set in at least one mask. @throws DetectionError `rle-mismatch`. */
export function unionOf(masks: readonly [Rle, ...Rle[]]): Rle {
  return masks.reduce((a, b) => combine(a, b, (inA, inB) => inA || inB));
}

/** The mask of pixels set in all masks. @throws DetectionError `rle-mismatch`. */
export function intersectionOf(masks: readonly [Rle, ...Rle[]]): Rle {
  return masks.reduce((a, b) => combine(a, b, (inA, inB) => inA && inB));
}

/** Kind of a ground-truth region. A crowd region covers several objects, so only the share of the detection inside it counts. */
export type TruthKind = 'object' | 'crowd';

/**
 * Intersection over union; for a crowd, intersection over the detection's area. 0 where the masks do not overlap.
 * @throws DetectionError `rle-mismatch` where the sizes differ.
 */
export function rleIou(detection: Rle, truth: Rle, kind: TruthKind = 'object'): number {
  const shared = intersectionArea(detection, truth);
  if (shared === 0) return 0;
  return shared / (kind === 'crowd' ? rleArea(detection) : rleArea(detection) + rleArea(truth) - shared);
}

/** An empty mask. */
export function emptyRle(height: number, width: number): Rle {
  return makeRle(height, width, []);
}

function combine(a: Rle, b: Rle, isSet: (inA: boolean, inB: boolean) => boolean): Rle {
  const writer = makeRunWriter(a.height, a.width);
  walkTogether(a, b, (inA, inB, length) => writer.push(isSet(inA, inB) ? 1 : 0, length));
  return writer.finish();
}

/** Calls `visit` for every segment in which neither mask changes. */
function walkTogether(a: Rle, b: Rle, visit: (inA: boolean, inB: boolean, length: number) => void): void {
  checkSizes(a, b);
  const [runsA, runsB] = [a.counts, b.counts];
  let i = 0;
  let j = 0;
  let endA = runsA[0] ?? 0;
  let endB = runsB[0] ?? 0;
  let position = 0;
  while (i < runsA.length && j < runsB.length) {
    const end = endA < endB ? endA : endB;
    if (end > position) visit(i % 2 === 1, j % 2 === 1, end - position);
    position = end;
    if (endA === end) endA += runsA[++i] ?? 0;
    if (endB === end) endB += runsB[++j] ?? 0;
  }
}

function checkSizes(a: Rle, b: Rle): void {
  if (a.height === b.height && a.width === b.width) return;
  throw new DetectionError('rle-mismatch', `masks have different sizes: ${a.height}×${a.width} and ${b.height}×${b.width}`);
}
