/** Reports detections of categories that the annotations do not have. */
import { compareIds } from '../../src/detection/coco/coco-id.js';
import type { CocoDataset } from '../../src/detection/coco/dataset.js';
import type { CocoResult } from '../../src/detection/coco/results.js';
import type { Context } from '../../src/stage/context.js';

/** Logs a warning where no detection has a known category, and a note where some do not: a network may have more classes than a data set. */
export function reportUnknownCategories(results: readonly CocoResult[], { categories }: CocoDataset, { log }: Pick<Context, 'log'>): void {
  const known = new Set(categories.map(({ id }) => id));
  const unknown = results.filter(({ categoryId }) => !known.has(categoryId));
  if (unknown.length === 0) return;
  const ids = [...new Set(unknown.map(({ categoryId }) => categoryId))].sort(compareIds);
  const shown = ids.length > 8 ? `${ids.slice(0, 8).join(', ')}, …` : ids.join(', ');
  if (unknown.length < results.length) {
    log('info', `${unknown.length} of ${results.length} detections are ignored: the annotations have no categories ${shown}`);
    return;
  }
  const theirs = categories.map(({ id, name }) => `${id} (${name})`).slice(0, 8);
  log(
    'warning',
    `none of ${results.length} detections count: they have categories ${shown}, but the annotations have ${theirs.join(', ')}`,
  );
}
