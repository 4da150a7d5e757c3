/** The objects that the filters keep, as comma-separated values. */
import { type CsvLine, encodeCsv } from './encode-csv.js';
import type { Filtered } from './filter-rows.js';
import { objectAt } from './object-columns.js';
import type { MatchResult, ObjectBox } from './result-types.js';

const HEAD = [
  'image',
  'file',
  'kind',
  'class',
  'left score',
  'right score',
  'left mask score',
  'right mask score',
  'iou',
  'x',
  'y',
  'width',
  'height',
];

/** A line per object; the box is that of the left side, or of the right where the left lacks it. */
export function listObjects(result: MatchResult, { images, kept }: Pick<Filtered, 'images' | 'kept'>): string {
  const names = new Map(result.categories.map(({ id, name }) => [id, name]));
  const lines: CsvLine[] = [HEAD];
  for (const image of images) {
    const { id, file } = result.images[image] ?? { id: '', file: '' };
    const end = result.objectStarts[image + 1] ?? 0;
    for (let at = result.objectStarts[image] ?? 0; at < end; at++) {
      if (kept[at] !== 1) continue;
      const { kind, left, right, iou } = objectAt(result, at);
      const box = left ?? right;
      lines.push([
        id,
        file,
        kind,
        names.get(box?.category ?? '') ?? '',
        left?.score,
        right?.score,
        left?.maskScore,
        right?.maskScore,
        iou,
        ...placeOf(box),
      ]);
    }
  }
  return encodeCsv(lines);
}

function placeOf(box: ObjectBox | undefined): readonly number[] {
  return box === undefined ? [] : box.box;
}
