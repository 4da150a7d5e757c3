/** Differences between the detections of two detectors, judged by the ground truth and sorted by cost. */
import { compareIds } from './coco-id.js';
import type { CocoAnnotation, CocoDataset, CocoImage } from './dataset.js';
import type { IouType } from './params.js';
import { describeDetection, describeTruth, overlap, type Region } from './region.js';
import { type CocoResult, compareScores, scoreOf } from './results.js';
import { groupByImage, takeKnownCategories } from './subset.js';

/**
 * 'lost' and 'found': only the earlier or only the later detector finds the object. 'changed': both find it, with different score or place.
 * 'extra' and 'resolved': a false positive of only the later or only the earlier detector.
 */
export type ChangeKind = 'lost' | 'found' | 'changed' | 'extra' | 'resolved';

export interface ObjectChange {
  readonly kind: ChangeKind;
  readonly image: CocoImage;
  /** The ground-truth object; undefined for false positives. */
  readonly truth: CocoAnnotation | undefined;
  readonly before: SeenObject | undefined;
  readonly after: SeenObject | undefined;
  /** Loss caused by the change; negative for a gain. */
  readonly cost: number;
}

/** A detector's detection of an object, or its closest detection where it does not find the object. */
export interface SeenObject {
  readonly result: CocoResult;
  readonly score: number;
  /** IoU with the object; 0 for false positives. */
  readonly iou: number;
  /** Why it does not count: score too low, other class, or too little overlap. */
  readonly lacks: 'nothing' | 'score' | 'class' | 'place';
}

export interface ChangeRule {
  readonly iouType: IouType;
  /** Detections with a lower score are ignored. */
  readonly minScore: number;
  /** Minimum overlap with a found object, and between two false positives that count as the same. */
  readonly found: number;
  /** Smaller changes of an object that both find are ignored. */
  readonly least: number;
}

export interface Changes {
  /** By falling cost; equal costs by image, then by kind. */
  readonly changes: readonly ObjectChange[];
  /** Objects that both find without a relevant change. */
  readonly kept: number;
  /** Objects that neither finds. */
  readonly missed: number;
}

export const CHANGE_RULE: Omit<ChangeRule, 'iouType'> = { minScore: 0.5, found: 0.5, least: 0.05 };

/**
 * Compares the detections of two detectors object by object. The cost of a lost object or of a new false positive is its score. The cost of a found object
 * or of a removed false positive is the negative score. The cost of a changed object is the loss of overlap plus the loss of score. Detections in crowd
 * regions are ignored, and so are results of categories that the data set does not have.
 * @throws DetectionError `coco-no-region`.
 */
export function findChanges(dataset: CocoDataset, before: readonly CocoResult[], after: readonly CocoResult[], rule: ChangeRule): Changes {
  const truths = groupByImage(dataset.annotations);
  const [earlier, later] = [groupByImage(takeKnownCategories(dataset, before)), groupByImage(takeKnownCategories(dataset, after))];
  const changes: ObjectChange[] = [];
  let kept = 0;
  let missed = 0;
  for (const image of dataset.images.toSorted((a, b) => compareIds(a.id, b.id))) {
    const objects = (truths.get(image.id) ?? []).map(annotation => ({
      annotation,
      region: describeTruth(annotation, image, rule.iouType).region,
    }));
    const [left, right] = [earlier, later].map(side => matchImage(side.get(image.id) ?? [], objects, image, rule)) as [
      ImageMatch,
      ImageMatch,
    ];
    objects.forEach(({ annotation }, index) => {
      if (annotation.kind === 'crowd') return;
      const change = compare(left.seen[index], right.seen[index], rule);
      if (change === 'kept') kept++;
      else if (change === 'missed') missed++;
      else changes.push({ ...change, image, truth: annotation });
    });
    changes.push(
      ...compareFalsePositives(left.falsePositives, right.falsePositives, rule).map(change => ({ ...change, image, truth: undefined })),
    );
  }
  const order: readonly ChangeKind[] = ['lost', 'extra', 'changed', 'resolved', 'found'];
  changes.sort((a, b) => b.cost - a.cost || compareIds(a.image.id, b.image.id) || order.indexOf(a.kind) - order.indexOf(b.kind));
  return { changes, kept, missed };
}

interface TrueObject {
  readonly annotation: CocoAnnotation;
  readonly region: Region;
}

interface MatchedDetection {
  readonly result: CocoResult;
  readonly score: number;
  readonly region: Region;
}

interface ImageMatch {
  /** Per object. */
  readonly seen: readonly (SeenObject | undefined)[];
  /** False positives. */
  readonly falsePositives: readonly MatchedDetection[];
}

/** Matches the detections of an image by falling score, each with the object of its class that it overlaps most. */
function matchImage(results: readonly CocoResult[], objects: readonly TrueObject[], image: CocoImage, rule: ChangeRule): ImageMatch {
  const detections = results
    .toSorted((a, b) => compareScores(scoreOf(a, rule.iouType), scoreOf(b, rule.iouType)))
    .map((result): MatchedDetection => ({ result, ...describeDetection(result, image, rule.iouType) }));
  const overlaps = detections.map(({ region }) => objects.map(truth => overlap(region, truth.region, truth.annotation.kind)));
  const taken = new Map<number, number>();
  const falsePositives: MatchedDetection[] = [];
  detections.forEach((detection, d) => {
    if (detection.score < rule.minScore) return;
    const own = overlaps[d] ?? [];
    let best = -1;
    objects.forEach(({ annotation }, o) => {
      if (annotation.kind === 'crowd' || taken.has(o) || annotation.categoryId !== detection.result.categoryId) return;
      if ((own[o] ?? 0) >= rule.found && (own[o] ?? 0) > (own[best] ?? 0)) best = o;
    });
    if (best >= 0) taken.set(best, d);
    else if (!objects.some(({ annotation }, o) => annotation.kind === 'crowd' && (own[o] ?? 0) >= rule.found))
      falsePositives.push(detection);
  });
  const used = new Set(taken.values());
  const seen = objects.map(({ annotation }, o): SeenObject | undefined => {
    const d = taken.get(o);
    const own = d === undefined ? undefined : detections[d];
    if (d !== undefined && own !== undefined) return { ...seenOf(own), iou: overlaps[d]?.[o] ?? 0 };
    return findNearest(detections, index => (used.has(index) ? 0 : (overlaps[index]?.[o] ?? 0)), annotation, rule);
  });
  return { seen, falsePositives };
}

/** The detection closest to an object that was not found. The right place counts more than the right class elsewhere. */
function findNearest(
  detections: readonly MatchedDetection[],
  iouOf: (index: number) => number,
  { categoryId }: CocoAnnotation,
  { found }: ChangeRule,
): SeenObject | undefined {
  const near = detections.flatMap(({ result, score }, index): SeenObject[] => {
    const iou = iouOf(index);
    if (iou < found) return result.categoryId === categoryId && iou >= found / 2 ? [{ result, score, iou, lacks: 'place' }] : [];
    return [{ result, score, iou, lacks: result.categoryId === categoryId ? 'score' : 'class' }];
  });
  const rank: readonly SeenObject['lacks'][] = ['score', 'class', 'place'];
  return near.sort((a, b) => rank.indexOf(a.lacks) - rank.indexOf(b.lacks) || b.score - a.score)[0];
}

type Change = Pick<ObjectChange, 'kind' | 'before' | 'after' | 'cost'>;

function compare(before: SeenObject | undefined, after: SeenObject | undefined, { least }: ChangeRule): Change | 'kept' | 'missed' {
  const [had, has] = [before?.lacks === 'nothing', after?.lacks === 'nothing'];
  if (!had && !has) return 'missed';
  if (!has) return { kind: 'lost', before, after, cost: before?.score ?? 0 };
  if (!had) return { kind: 'found', before, after, cost: -(after?.score ?? 0) };
  const [iou, score] = [(before?.iou ?? 0) - (after?.iou ?? 0), (before?.score ?? 0) - (after?.score ?? 0)];
  if (Math.abs(iou) < least && Math.abs(score) < least) return 'kept';
  return { kind: 'changed', before, after, cost: iou + score };
}

/** False positives that both detectors have are no change. */
function compareFalsePositives(
  before: readonly MatchedDetection[],
  after: readonly MatchedDetection[],
  { found }: ChangeRule,
): readonly Change[] {
  const free = new Set(before);
  const changes: Change[] = [];
  for (const one of after) {
    const same = [...free].find(
      other => other.result.categoryId === one.result.categoryId && overlap(one.region, other.region, 'object') >= found,
    );
    if (same === undefined) changes.push({ kind: 'extra', before: undefined, after: seenOf(one), cost: one.score });
    else free.delete(same);
  }
  return [...changes, ...[...free].map((one): Change => ({ kind: 'resolved', before: seenOf(one), after: undefined, cost: -one.score }))];
}

function seenOf({ result, score }: MatchedDetection): SeenObject {
  return { result, score, iou: 0, lacks: 'nothing' };
}
