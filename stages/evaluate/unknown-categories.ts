/** Do detections and annotations speak of the same categories? What the annotations lack counts for nothing, and that is said. */
import type { CocoDataset } from '../../src/detection/coco/dataset.js';
import type { CocoResult } from '../../src/detection/coco/results.js';
import type { Context } from '../../src/stage/context.js';

/** A warning where not one detection can count; a line of the log where some cannot, as a network may know more classes than a data set. */
export function sayUnknownCategories(results: readonly CocoResult[], { categories }: CocoDataset, { log }: Pick<Context, 'log'>): void {
  const known = new Set(categories.map(({ id }) => id));
  const unknown = results.filter(({ categoryId }) => !known.has(categoryId));
  if (unknown.length === 0) return;
  const ids = [...new Set(unknown.map(({ categoryId }) => categoryId))].sort((a, b) => a - b);
  const shown = ids.length > 8 ? `${ids.slice(0, 8).join(', ')}, …` : ids.join(', ');
  if (unknown.length < results.length) {
    log('info', `${unknown.length} of ${results.length} detections count for nothing: the annotations have no categories ${shown}`);
    return;
  }
  const theirs = categories.map(({ id, name }) => `${id} (${name})`).slice(0, 8);
  log(
    'warning',
    `none of ${results.length} detections can count: they are of categories ${shown}, the annotations have ${theirs.join(', ')}`,
  );
}
