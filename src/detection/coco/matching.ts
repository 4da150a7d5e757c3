/** COCO's greedy matching of detections and objects of one category, per image, area range and IoU threshold. */
import type { CocoId } from './coco-id.js';
import { computeOverlaps, type ImageGroup } from './group-results.js';
import type { AreaRange } from './params.js';
import type { Truth } from './region.js';

/** Outcome of a detection at one threshold. Ignored detections are not counted. */
export const FALSE_POSITIVE = 0;
export const TRUE_POSITIVE = 1;
export const IGNORED = 2;

/** All detections of one category, image by image, by falling score within each image. */
export interface CategoryJudgment {
  readonly scores: Float64Array;
  /** Rank among the detections of its image, from 0. */
  readonly places: Uint32Array;
  /** Per area range. */
  readonly ranges: readonly RangeJudgment[];
}

export interface RangeJudgment {
  /** Outcomes, row-major [thresholds, detections]. */
  readonly outcomes: Uint8Array;
  /** Number of objects to be found. */
  readonly wanted: number;
}

/** Matches the images of one category one by one. */
export function judgeCategory(
  images: Iterable<ImageGroup>,
  areaRanges: readonly AreaRange[],
  iouThresholds: readonly number[],
): CategoryJudgment {
  const judged: { readonly scores: readonly number[]; readonly outcomes: readonly Uint8Array[] }[] = [];
  const wanted = areaRanges.map(() => 0);
  for (const image of images) {
    const { truths, detections } = image;
    for (const [r, range] of areaRanges.entries())
      for (const truth of truths) if (!isIgnored(truth, range)) wanted[r] = (wanted[r] as number) + 1;
    if (detections.length === 0) continue;
    const overlaps = computeOverlaps(image);
    judged.push({
      scores: detections.map(({ score }) => score),
      outcomes: areaRanges.map(range => judgeRange(image, overlaps, range, iouThresholds)),
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
  { truths, detections }: ImageGroup,
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

/** An object as a candidate of the matching. */
interface Offer {
  readonly column: number;
  readonly ignored: boolean;
  /** A crowd may be matched by any number of detections. */
  readonly crowd: boolean;
  /** False for annotation id 0: pycocotools records matches by id, so that an object with id 0 never counts as found. */
  readonly countable: boolean;
}

/** Python converts an id that is text to a number when it records the match. */
function isZero(id: CocoId): boolean {
  return id === 0 || (typeof id === 'string' && id.trim() !== '' && Number(id) === 0);
}

/** Objects that are not ignored come first. */
function makeOffers(truths: readonly Truth[], range: AreaRange): readonly Offer[] {
  const offers = truths.map((truth, column) => ({
    column,
    ignored: isIgnored(truth, range),
    crowd: truth.kind === 'crowd',
    countable: !isZero(truth.id),
  }));
  return offers.length < 2 ? offers : offers.sort((a, b) => Number(a.ignored) - Number(b.ignored));
}

/**
 * Index of the offer that matches a detection, or −1. It has the largest overlap of at least the threshold; of equal overlaps the last one is taken.
 * Ignored offers are considered only where no other qualifies. The overlaps of the detection start at `row`.
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

function isIgnored({ kind, area, ignored }: Truth, range: AreaRange): boolean {
  return ignored === true || kind === 'crowd' || isOutside(area, range);
}

function isOutside(area: number, { low, high }: AreaRange): boolean {
  return area < low || area > high;
}
