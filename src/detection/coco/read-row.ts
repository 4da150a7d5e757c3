/** One object of a list of COCO results or annotations as a row of numbers. */
import { CLOSE_LIST, CLOSE_OBJECT, type JsonBytes, OPEN_LIST, OPEN_OBJECT, unfit } from './json-bytes.js';
import { ROW, ROW_LENGTH } from './row-blocks.js';

export interface RowPlace {
  of: 'results' | 'annotations';
  /** The place of the bytes in their file. */
  readonly base: number;
  readonly rows: Float64Array;
  /** Where the row begins in `rows`. */
  at: number;
}

interface Field {
  readonly name: Buffer;
  read(json: JsonBytes, place: RowPlace): void;
}

const field = (name: string, read: Field['read']): Field => ({ name: Buffer.from(name), read });

/** Members that both kinds have. */
const SHARED: readonly Field[] = [
  field('image_id', (json, place) => readId(json, place, ROW.image)),
  field('category_id', (json, place) => readId(json, place, ROW.category)),
  field('bbox', readBox),
  field('segmentation', readMask),
  field('keypoints', unfit),
  field('num_keypoints', unfit),
];

const FIELDS: Readonly<Record<RowPlace['of'], readonly Field[]>> = {
  results: [
    ...SHARED,
    field('score', (json, place) => readFinite(json, place, ROW.score)),
    field('mask_score', (json, place) => readFinite(json, place, ROW.maskScore)),
  ],
  annotations: [
    ...SHARED,
    field('id', (json, place) => readId(json, place, ROW.id)),
    field('area', (json, place) => readFinite(json, place, ROW.score)),
    field('iscrowd', (json, place) => {
      const value = readFinite(json, place, ROW.maskScore);
      if (value !== 0 && value !== 1) unfit();
    }),
  ],
};

/** Without these a row is unfit: they are an error, or mean something else. */
const NEEDED: Readonly<Record<RowPlace['of'], readonly number[]>> = {
  results: [ROW.image, ROW.category, ROW.score, ROW.box],
  annotations: [ROW.id, ROW.image, ROW.category, ROW.score, ROW.maskScore, ROW.box],
};

/** Members that are none of the fields are passed. */
export function readRow(json: JsonBytes, place: RowPlace): void {
  const { of, rows, at } = place;
  for (let i = 0; i < ROW_LENGTH; i++) rows[at + i] = Number.NaN;
  json.expect(OPEN_OBJECT);
  if (!json.take(CLOSE_OBJECT)) {
    do {
      json.passName();
      readMember(json, place, FIELDS[of]);
    } while (json.passSeparator(CLOSE_OBJECT));
  }
  for (const needed of NEEDED[of]) if (Number.isNaN(rows[at + needed])) unfit();
}

function readMember(json: JsonBytes, place: RowPlace, fields: readonly Field[]): void {
  for (const one of fields) {
    if (!json.isName(one.name)) continue;
    one.read(json, place);
    return;
  }
  if (json.hasEscapedName()) unfit();
  json.passValue();
}

/** An id that no number holds exactly is the text of its digits elsewhere. */
function readId(json: JsonBytes, place: RowPlace, at: number): void {
  if (Math.abs(readFinite(json, place, at)) > Number.MAX_SAFE_INTEGER) unfit();
}

/** JSON may have numbers that are too large for a number. */
function readFinite(json: JsonBytes, place: RowPlace, at: number): number {
  const value = json.readNumber();
  if (!Number.isFinite(value)) unfit();
  place.rows[place.at + at] = value;
  return value;
}

function readBox(json: JsonBytes, place: RowPlace): void {
  json.expect(OPEN_LIST);
  for (let side = 0; side < 4; side++) {
    readFinite(json, place, ROW.box + side);
    if (json.passSeparator(CLOSE_LIST) !== side < 3) unfit();
  }
}

/** null and an empty list are no mask. Of others than objects and lists, the reader of the whole file says what they are. */
function readMask(json: JsonBytes, { base, rows, at }: RowPlace): void {
  const first = json.peek();
  const start = json.at;
  json.passValue();
  const isAbsent = first === OPEN_LIST ? isEmptyList(json, start) : first !== OPEN_OBJECT;
  if (isAbsent && first !== OPEN_LIST && first !== N) unfit();
  rows[at + ROW.maskStart] = isAbsent ? Number.NaN : base + start;
  rows[at + ROW.maskEnd] = isAbsent ? Number.NaN : base + json.at;
}

/** The first letter of null. */
const N = 0x6e;

function isEmptyList({ bytes, at }: JsonBytes, start: number): boolean {
  let next = start + 1;
  while (next < at - 1 && (bytes[next] as number) <= 0x20) next++;
  return next === at - 1;
}
