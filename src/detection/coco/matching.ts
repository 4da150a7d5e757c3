/** Which detections of a category find an object? COCO's greedy matching in every image, for every area range and IoU threshold. */
import { computeOverlaps, type Encounter } from './encounters.js';
import type { AreaRange } from './params.js';
import type { Truth } from './region.js';

/** What became of a detection at one threshold. An ignored one counts neither for nor against. */
export const FALSE_POSITIVE = 0;
export const TRUE_POSITIVE = 1;
export const IGNORED = 2;

/** All detections of one category, image after image, best first in each. */
export interface CategoryJudgement {
  readonly scores: Float64Array;
  /** Place among the detections of its image, from 0. */
  readonly places: Uint32Array;
  /** Per area range. */
  readonly ranges: readonly RangeJudgement[];
}

export interface RangeJudgement {
  /** Row-major [thresholds, detections], of the three values above. */
  readonly outcomes: Uint8Array;
  /** Objects that should have been found. */
  readonly wanted: number;
}

/** Judges the encounters of one category, each as soon as it is drawn. */
export function judgeCategory(
  encounters: Iterable<Encounter>,
  areaRanges: readonly AreaRange[],
  iouThresholds: readonly number[],
): CategoryJudgement {
  const judged: { readonly scores: readonly number[]; readonly outcomes: readonly Uint8Array[] }[] = [];
  const wanted = areaRanges.map(() => 0);
  for (const encounter of encounters) {
    const { truths, detections } = encounter;
    for (const [r, range] of areaRanges.entries())
      for (const truth of truths) if (!isIgnored(truth, range)) wanted[r] = (wanted[r] as number) + 1;
    if (detections.length === 0) continue;
    const overlaps = computeOverlaps(encounter);
    judged.push({
      scores: detections.map(({ score }) => score),
      outcomes: areaRanges.map(range => judgeRange(encounter, overlaps, range, iouThresholds)),
    });
  }
  const count = judged.reduce((sum, { scores }) => sum + scores.length, 0);
  const scores = new Float64Array(count);
  const places = new Uint32Array(count);
  const ranges = wanted.map(sum => ({ outcomes: new Uint8Array(iouThresholds.length * count), wanted: sum }));
  let from = 0;
  for (const one of judged) {
    const { length } = one.scores;
    scores.set(one.scores, from);
    for (let i = 0; i < length; i++) places[from + i] = i;
    ranges.forEach(({ outcomes }, r) => {
      const own = one.outcomes[r] as Uint8Array;
      for (let t = 0; t < iouThresholds.length; t++) outcomes.set(own.subarray(t * length, (t + 1) * length), t * count + from);
    });
    from += length;
  }
  return { scores, places, ranges };
}

/** Row-major [thresholds, detections]. */
function judgeRange(
  { truths, detections }: Encounter,
  overlaps: Float64Array,
  range: AreaRange,
  iouThresholds: readonly number[],
): Uint8Array {
  const offers = makeOffers(truths, range);
  const outcomes = new Uint8Array(iouThresholds.length * detections.length);
  const outside = detections.map(({ area }) => isOutside(area, range));
  const taken = new Uint8Array(truths.length);
  iouThresholds.forEach((threshold, t) => {
    taken.fill(0);
    for (let d = 0; d < detections.length; d++) {
      const match = findMatch(offers, taken, overlaps, d * truths.length, threshold);
      if (match >= 0) taken[match] = 1;
      outcomes[t * detections.length + d] = outcomeOf(match < 0 ? undefined : (offers[match] as Offer), outside[d] === true);
    }
  });
  return outcomes;
}

/** An object as it is offered to a detection, with what the matching asks of it. */
interface Offer {
  readonly column: number;
  readonly ignored: boolean;
  /** A crowd may be matched by any number of detections. */
  readonly crowd: boolean;
  /** pycocotools marks a match by the annotation's id, so that one with id 0 never counts as found; figures agree only with the same rule. */
  readonly countable: boolean;
}

/** Those that count come first. */
function makeOffers(truths: readonly Truth[], range: AreaRange): readonly Offer[] {
  const offers = truths.map((truth, column) => ({
    column,
    ignored: isIgnored(truth, range),
    crowd: truth.kind === 'crowd',
    countable: truth.id !== 0,
  }));
  return offers.length < 2 ? offers : offers.sort((a, b) => Number(a.ignored) - Number(b.ignored));
}

/**
 * The offer that a detection takes, or −1: the one of largest overlap at or above the threshold (of equal ones the last), among those that count
 * where one of them qualifies, else among the ignored ones. The detection's overlaps start at `row`.
 */
function findMatch(offers: readonly Offer[], taken: Uint8Array, overlaps: Float64Array, row: number, threshold: number): number {
  let best = Math.min(threshold, 1 - 1e-10);
  let match = -1;
  for (let i = 0; i < offers.length; i++) {
    const { column, ignored, crowd } = offers[i] as Offer;
    if (taken[i] === 1 && !crowd) continue;
    if (match >= 0 && ignored && !(offers[match] as Offer).ignored) break;
    const overlap = overlaps[row + column] as number;
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

function isIgnored({ kind, area }: Truth, range: AreaRange): boolean {
  return kind === 'crowd' || isOutside(area, range);
}

function isOutside(area: number, { low, high }: AreaRange): boolean {
  return area < low || area > high;
}
