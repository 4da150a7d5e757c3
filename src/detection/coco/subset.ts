/** Subsets of data sets and results by image and by category. */
import type { CocoId } from './coco-id.js';
import type { CocoDataset } from './dataset.js';
import type { CocoResult } from './results.js';

/** The data set restricted to some images. All categories are kept. */
export function takeImages(dataset: CocoDataset, ids: ReadonlySet<CocoId>): CocoDataset {
  return {
    images: dataset.images.filter(({ id }) => ids.has(id)),
    categories: dataset.categories,
    annotations: dataset.annotations.filter(({ imageId }) => ids.has(imageId)),
  };
}

export function takeResults(results: readonly CocoResult[], ids: ReadonlySet<CocoId>): readonly CocoResult[] {
  return results.filter(({ imageId }) => ids.has(imageId));
}

/** Ids of result categories that the data set does not have, with their number of results. */
export function countUnknownCategories(dataset: CocoDataset, results: readonly CocoResult[]): ReadonlyMap<CocoId, number> {
  const known = new Set(dataset.categories.map(({ id }) => id));
  const unknown = new Map<CocoId, number>();
  for (const { categoryId } of results) if (!known.has(categoryId)) unknown.set(categoryId, (unknown.get(categoryId) ?? 0) + 1);
  return unknown;
}

/** The results of categories that the data set has. */
export function takeKnownCategories(dataset: CocoDataset, results: readonly CocoResult[]): readonly CocoResult[] {
  const known = new Set(dataset.categories.map(({ id }) => id));
  return results.filter(({ categoryId }) => known.has(categoryId));
}

/** Groups by image id. Members keep their order. */
export function groupByImage<T extends { readonly imageId: CocoId }>(members: readonly T[]): ReadonlyMap<CocoId, T[]> {
  const groups = new Map<CocoId, T[]>();
  for (const member of members) {
    const group = groups.get(member.imageId);
    if (group === undefined) groups.set(member.imageId, [member]);
    else group.push(member);
  }
  return groups;
}
