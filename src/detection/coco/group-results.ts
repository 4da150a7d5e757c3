/** Groups objects and detections by category and image, and computes the overlap of all pairs. */
import { type CocoId, compareIds } from './coco-id.js';
import type { CocoCategory, CocoDataset } from './dataset.js';
import type { CocoParams, OverlapType } from './params.js';
import { type Detection, describeDetection, describeTruth, overlap, type Truth } from './region.js';
import { type CocoResult, compareScores, scoreOf } from './results.js';

/** The objects and detections of one category in one image; at least one of the lists is not empty. */
export interface ImageGroup {
  readonly truths: readonly Truth[];
  /** By falling score, equal scores in the order of the file; at most `maxDetections`. */
  readonly detections: readonly Detection[];
}

export interface CategoryGroups {
  /** Undefined where categories are merged. */
  readonly category: CocoCategory | undefined;
  /** By ascending image id. Generated one at a time, so that only the masks of one image are in memory. */
  readonly images: Iterable<ImageGroup>;
}

/**
 * Groups per category by ascending id, or one group where categories are merged.
 * @throws while iterating, as `describeTruth` and `describeDetection`.
 */
export function* groupByCategoryAndImage(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: OverlapType,
  params: CocoParams,
): Generator<CategoryGroups> {
  const [truths, detections] = [groupByCategory(dataset.annotations), groupByCategory(results)];
  const images = dataset.images.toSorted((a, b) => compareIds(a.id, b.id));
  const most = Math.max(...params.maxDetections);
  const rank = (a: CocoResult, b: CocoResult): number => compareScores(scoreOf(a, iouType), scoreOf(b, iouType));
  const categories = dataset.categories.toSorted((a, b) => compareIds(a.id, b.id));
  const groups = params.categories === 'merged' ? [categories] : categories.map(category => [category]);

  function* groupImages(ids: readonly CocoId[]): Generator<ImageGroup> {
    const members = ids.map(id => ({ truths: truths.get(id), detections: detections.get(id) }));
    const present = new Set(members.flatMap(one => [...(one.truths?.keys() ?? []), ...(one.detections?.keys() ?? [])]));
    for (const image of images) {
      if (!present.has(image.id)) continue;
      const annotated = members.flatMap(one => one.truths?.get(image.id) ?? []);
      const found = members.flatMap(one => one.detections?.get(image.id) ?? []);
      yield {
        truths: annotated.map(annotation => describeTruth(annotation, image, iouType, params.sigmas)),
        detections: found
          .sort(rank)
          .slice(0, most)
          .map(result => describeDetection(result, image, iouType)),
      };
    }
  }
  for (const group of groups)
    yield { category: params.categories === 'merged' ? undefined : group[0], images: groupImages(group.map(({ id }) => id)) };
}

/** Row-major [detections, truths]. */
export function computeOverlaps({ truths, detections }: ImageGroup): Float64Array {
  const overlaps = new Float64Array(detections.length * truths.length);
  let i = 0;
  for (const detection of detections) for (const truth of truths) overlaps[i++] = overlap(detection.region, truth.region, truth.kind);
  return overlaps;
}

type ByImage<T> = Map<CocoId, T[]>;

function groupByCategory<T extends { readonly imageId: CocoId; readonly categoryId: CocoId }>(
  members: readonly T[],
): ReadonlyMap<CocoId, ByImage<T>> {
  const groups = new Map<CocoId, ByImage<T>>();
  for (const member of members) {
    const byImage = groups.get(member.categoryId) ?? new Map<CocoId, T[]>();
    groups.set(member.categoryId, byImage);
    const group = byImage.get(member.imageId);
    if (group === undefined) byImage.set(member.imageId, [member]);
    else group.push(member);
  }
  return groups;
}
