/** The objects that the filters keep, as comma-separated values. */
import type { FilteredRow } from './filter-rows.js';
import type { MatchResult, ObjectBox } from './result-types.js';

const HEAD = ['image', 'file', 'kind', 'class', 'left score', 'right score', 'iou', 'x', 'y', 'width', 'height'];

/** A line per object; the box is that of the left side, or of the right where the left lacks it. */
export function listObjects(rows: readonly FilteredRow[], categories: MatchResult['categories']): string {
  const lines = rows.flatMap(({ row, shown }) =>
    shown.map(({ kind, left, right, iou }) => {
      const box = left ?? right;
      const name = box === undefined ? '' : (categories[box.category] ?? box.category);
      return [row.id, row.file, kind, name, left?.score, right?.score, iou, ...placeOf(box)];
    }),
  );
  return [HEAD, ...lines].map(cells => `${cells.map(encodeCell).join(',')}\r\n`).join('');
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
