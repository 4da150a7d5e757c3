/** The objects that the filters keep, as comma-separated values. */
import type { Filtered } from './filter-rows.js';
import { objectAt } from './object-columns.js';
import type { MatchResult, ObjectBox } from './result-types.js';

const HEAD = ['image', 'file', 'kind', 'class', 'left score', 'right score', 'iou', 'x', 'y', 'width', 'height'];

/** A line per object; the box is that of the left side, or of the right where the left lacks it. */
export function listObjects(result: MatchResult, { images, kept }: Pick<Filtered, 'images' | 'kept'>): string {
  const names = new Map(result.categories.map(({ id, name }) => [id, name]));
  const lines: (readonly (string | number | undefined)[])[] = [HEAD];
  for (const image of images) {
    const { id, file } = result.images[image] ?? { id: '', file: '' };
    const end = result.objectStarts[image + 1] ?? 0;
    for (let at = result.objectStarts[image] ?? 0; at < end; at++) {
      if (kept[at] !== 1) continue;
      const { kind, left, right, iou } = objectAt(result, at);
      const box = left ?? right;
      lines.push([id, file, kind, names.get(box?.category ?? '') ?? '', left?.score, right?.score, iou, ...placeOf(box)]);
    }
  }
  return lines.map(cells => `${cells.map(encodeCell).join(',')}\r\n`).join('');
}

function placeOf(box: ObjectBox | undefined): readonly number[] {
  return box === undefined ? [] : box.box;
}

/** RFC 4180. A text that a spreadsheet would compute gets an apostrophe before it. */
function encodeCell(value: string | number | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = value === undefined ? '' : /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
