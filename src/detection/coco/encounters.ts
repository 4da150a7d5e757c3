/** Which objects and detections meet in which image, and how much does each pair overlap? */
import { DetectionError } from '../error/detection-error.js';
import type { CocoCategory, CocoDataset } from './dataset.js';
import type { CocoParams, IouType } from './params.js';
import { type Detection, describeDetection, describeTruth, overlap, type Truth } from './region.js';
import { type CocoResult, scoreOf } from './results.js';

/** One image and category that has at least an object or a detection. */
export interface Encounter {
  readonly truths: readonly Truth[];
  /** By descending score, equal ones in the order of the file; the best `maxDetections` only. */
  readonly detections: readonly Detection[];
}

export interface CategoryEncounters {
  /** Undefined where categories are merged. */
  readonly category: CocoCategory | undefined;
  /** By ascending image id. Drawn one at a time, so that masks of no more than one image are held. */
  readonly encounters: Iterable<Encounter>;
}

/**
 * Per category (one for all where they are merged), by ascending id.
 * @throws DetectionError `coco-no-region` where results partly lack boxes, and from the encounters what regions throw.
 */
export function* gatherEncounters(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: IouType,
  params: CocoParams,
): Generator<CategoryEncounters> {
  checkBoxes(results);
  const [truths, detections] = [groupByCategory(dataset.annotations), groupByCategory(results)];
  const images = dataset.images.toSorted((a, b) => a.id - b.id);
  const most = Math.max(...params.maxDetections);
  const rank = (a: CocoResult, b: CocoResult): number => scoreOf(b, iouType) - scoreOf(a, iouType);
  const categories = dataset.categories.toSorted((a, b) => a.id - b.id);
  const groups = params.categories === 'merged' ? [categories] : categories.map(category => [category]);

  function* meet(ids: readonly number[]): Generator<Encounter> {
    const members = ids.map(id => ({ truths: truths.get(id), detections: detections.get(id) }));
    const met = new Set(members.flatMap(one => [...(one.truths?.keys() ?? []), ...(one.detections?.keys() ?? [])]));
    for (const image of images) {
      if (!met.has(image.id)) continue;
      const annotated = members.flatMap(one => one.truths?.get(image.id) ?? []);
      const found = members.flatMap(one => one.detections?.get(image.id) ?? []);
      yield {
        truths: annotated.map(annotation => describeTruth(annotation, image, iouType)),
        detections: found
          .sort(rank)
          .slice(0, most)
          .map(result => describeDetection(result, image, iouType)),
      };
    }
  }
  for (const group of groups)
    yield { category: params.categories === 'merged' ? undefined : group[0], encounters: meet(group.map(({ id }) => id)) };
}

/** Row-major [detections, truths]. */
export function computeOverlaps({ truths, detections }: Encounter): Float64Array {
  const overlaps = new Float64Array(detections.length * truths.length);
  let i = 0;
  for (const detection of detections) for (const truth of truths) overlaps[i++] = overlap(detection.region, truth.region, truth.kind);
  return overlaps;
}

/** The size class of a detection is decided by its box or by its mask: the same for all of them. */
function checkBoxes(results: readonly CocoResult[]): void {
  const index = results.findIndex(result => (result.box === undefined) !== (results[0]?.box === undefined));
  if (index < 0) return;
  const [has, lacks] = results[0]?.box === undefined ? [index, 0] : [0, index];
  throw new DetectionError('coco-no-region', `result ${has} has a bbox and result ${lacks} has none; give all of them one, or none`);
}

type ByImage<T> = Map<number, T[]>;

function groupByCategory<T extends { readonly imageId: number; readonly categoryId: number }>(
  members: readonly T[],
): ReadonlyMap<number, ByImage<T>> {
  const groups = new Map<number, ByImage<T>>();
  for (const member of members) {
    const byImage = groups.get(member.categoryId) ?? new Map<number, T[]>();
    groups.set(member.categoryId, byImage);
    const group = byImage.get(member.imageId);
    if (group === undefined) byImage.set(member.imageId, [member]);
    else group.push(member);
  }
  return groups;
}
