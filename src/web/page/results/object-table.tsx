/** The objects of one image as a table: kind, scores and overlap. */
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import type { MatchedObject, ObjectBox, ObjectKind } from './result-types.js';

/** The name of an object's class. */
export type NameOf = (box: ObjectBox | undefined) => string;

export const TONES: Readonly<Record<ObjectKind, string>> = { lost: 'bad', found: 'warn', changed: 'violet', equal: 'good' };

const MOST_LISTED = 100;

const numbers = (title: string, of: (object: MatchedObject) => number | undefined): PlainColumn<MatchedObject> => ({
  title,
  look: 'n',
  cell: object => of(object)?.toFixed(3) ?? '–',
});

const SCORES = [numbers('Left', ({ left }) => left?.score), numbers('Right', ({ right }) => right?.score)];
const MASK_SCORES = [
  numbers('Mask score, left', ({ left }) => left?.maskScore),
  numbers('Mask score, right', ({ right }) => right?.maskScore),
];

/** The first objects of the image that the filters keep. */
export function ObjectTable({ shown, nameOf }: { readonly shown: readonly MatchedObject[]; readonly nameOf: NameOf }) {
  const places = new Map(shown.map((object, index) => [object, index + 1]));
  const columns: readonly PlainColumn<MatchedObject>[] = [
    { title: 'Object', cell: ({ left, right }) => nameOf(left ?? right) },
    { title: 'No.', hint: 'As in the pictures', look: 'n', cell: object => places.get(object) },
    { title: 'What', cell: ({ kind }) => <span class={TONES[kind]}>{kind}</span> },
    ...SCORES,
    ...(shown.some(({ left, right }) => (left ?? right)?.maskScore !== undefined) ? MASK_SCORES : []),
    numbers('IoU', ({ iou }) => iou),
  ];
  return (
    <PlainTable
      label="Objects of the image"
      class="short"
      rows={shown.slice(0, MOST_LISTED)}
      columns={columns}
      keyOf={(_, index) => index}
    />
  );
}
