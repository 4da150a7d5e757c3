/** How much do two masks share? Answered on their run lengths, without decoding them. */
import { DetectionError } from '../error/detection-error.js';
import { makeRle, makeRunWriter, type Rle, rleArea } from './rle.js';

/** Pixels set in both. @throws DetectionError `rle-mismatch` where the masks are of different sizes. */
export function intersectionArea(a: Rle, b: Rle): number {
  checkSizes(a, b);
  const [runsA, runsB] = [a.counts, b.counts];
  let i = 0;
  let j = 0;
  let area = 0;
  /** Where the run ends, and where the stretch that is looked at began. */
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

/** Pixels set in any of the masks. @throws DetectionError `rle-mismatch`. */
export function unionOf(masks: readonly [Rle, ...Rle[]]): Rle {
  return masks.reduce((a, b) => combine(a, b, (inA, inB) => inA || inB));
}

/** Pixels set in all of the masks. @throws DetectionError `rle-mismatch`. */
export function intersectionOf(masks: readonly [Rle, ...Rle[]]): Rle {
  return masks.reduce((a, b) => combine(a, b, (inA, inB) => inA && inB));
}

/** What a detection's overlap is measured against. A crowd region stands for several objects: the part of the detection inside it counts. */
export type TruthKind = 'object' | 'crowd';

/**
 * Intersection over union; for a crowd, intersection over the detection's area. 0 where nothing is shared.
 * @throws DetectionError `rle-mismatch` where the masks are of different sizes.
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

/** Calls `visit` for every stretch over which neither mask changes. */
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
  throw new DetectionError('rle-mismatch', `masks of ${a.height}×${a.width} and ${b.height}×${b.width} cannot be compared`);
}
