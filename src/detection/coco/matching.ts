/** Which detections of one image and category find an object? COCO's greedy matching, for every area range and IoU threshold. */
import { computeOverlaps, type Encounter } from './instances.js';
import type { AreaRange } from './params.js';

/** What became of a detection at one threshold. An ignored one counts neither for nor against. */
export const FALSE_POSITIVE = 0;
export const TRUE_POSITIVE = 1;
export const IGNORED = 2;

/** One encounter judged for one area range. */
export interface Judgement {
  /** Row-major [thresholds, detections], of the three values above. */
  readonly outcomes: Uint8Array;
  /** Objects that should have been found. */
  readonly wanted: number;
}

/** Judgements of one encounter, one per area range. */
export function judge(encounter: Encounter, areaRanges: readonly AreaRange[], iouThresholds: readonly number[]): Judgement[] {
  const overlaps = computeOverlaps(encounter);
  return areaRanges.map(range => judgeRange(encounter, overlaps, range, iouThresholds));
}

/** Objects in the order in which they are offered to a detection: those that count first, each with what the matching asks of it. */
interface Offer {
  readonly column: number;
  readonly ignored: boolean;
  /** A crowd may be matched by any number of detections. */
  readonly crowd: boolean;
  /** pycocotools marks a match by the annotation's id, so that one with id 0 never counts as found; figures agree only with the same rule. */
  readonly countable: boolean;
}

function judgeRange(encounter: Encounter, overlaps: Float64Array, range: AreaRange, iouThresholds: readonly number[]): Judgement {
  const { truths, detections } = encounter;
  const offers: Offer[] = truths
    .map(({ id, kind, area }, column) => ({
      column,
      ignored: kind === 'crowd' || isOutside(area, range),
      crowd: kind === 'crowd',
      countable: id !== 0,
    }))
    .sort((a, b) => Number(a.ignored) - Number(b.ignored));
  const outcomes = new Uint8Array(iouThresholds.length * detections.length);
  const taken = new Uint8Array(offers.length);
  iouThresholds.forEach((threshold, t) => {
    taken.fill(0);
    detections.forEach((detection, d) => {
      const match = findMatch(offers, taken, overlaps.subarray(d * truths.length, (d + 1) * truths.length), threshold);
      const offer = offers[match];
      if (offer !== undefined) taken[match] = 1;
      outcomes[t * detections.length + d] = outcomeOf(offer, isOutside(detection.area, range));
    });
  });
  return { outcomes, wanted: offers.filter(({ ignored }) => !ignored).length };
}

/**
 * The offer that a detection takes, or −1: the one of largest overlap at or above the threshold (of equal ones the last), among those that count
 * where one of them qualifies, else among the ignored ones.
 */
function findMatch(offers: readonly Offer[], taken: Uint8Array, overlaps: Float64Array, threshold: number): number {
  let best = Math.min(threshold, 1 - 1e-10);
  let match = -1;
  for (let i = 0; i < offers.length; i++) {
    const { column, ignored, crowd } = offers[i] as Offer;
    if (taken[i] === 1 && !crowd) continue;
    if (match >= 0 && ignored && !(offers[match] as Offer).ignored) break;
    const overlap = overlaps[column] as number;
    if (overlap < best) continue;
    best = overlap;
    match = i;
  }
  return match;
}

function outcomeOf(offer: Offer | undefined, outside: boolean): number {
  if (offer?.ignored) return IGNORED;
  if (offer?.countable) return TRUE_POSITIVE;
  return outside ? IGNORED : FALSE_POSITIVE;
}

function isOutside(area: number, { low, high }: AreaRange): boolean {
  return area < low || area > high;
}
