/** COCO files as rows: the oracle is `JSON.parse`, whatever the pieces in which the bytes come. */
import fc from 'fast-check';
import { decodeRows, ROW, ROW_LENGTH } from '../../../../src/detection/coco/row-blocks.js';
import { openRowScanner } from '../../../../src/detection/coco/row-scanner.js';

/** The rows of a text whose bytes come in pieces of a length. */
function scan(text: string, pieceBytes = 1 << 16) {
  const bytes = Buffer.from(text);
  const scanner = openRowScanner();
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const block = scanner.push(bytes.subarray(at, at + pieceBytes));
    if (block === undefined) return undefined;
    blocks.push(block);
  }
  blocks.push(scanner.end() ?? new Uint8Array(0));
  const all = Uint8Array.from(Buffer.concat(blocks));
  const found = decodeRows(all.buffer);
  if (found === undefined) return undefined;
  const numbers = found.blocks.flatMap(block => [...block]);
  const rows = Array.from({ length: found.count }, (_, index) => numbers.slice(ROW_LENGTH * index, ROW_LENGTH * (index + 1)));
  return { rows, rest: found.rest, bytes };
}

type Member = Readonly<Record<string, unknown>>;

/** What a row says, in the words of the file. */
function readBack(row: readonly number[], bytes: Buffer, kind: 'result' | 'annotation'): Member {
  const at = (field: number): number => row[field] ?? Number.NaN;
  const mask = Number.isNaN(at(ROW.maskStart)) ? undefined : JSON.parse(bytes.subarray(at(ROW.maskStart), at(ROW.maskEnd)).toString());
  const shared = {
    image_id: at(ROW.image),
    category_id: at(ROW.category),
    bbox: row.slice(ROW.box, ROW.box + 4),
    ...(mask === undefined ? {} : { segmentation: mask }),
  };
  if (kind === 'annotation') return { ...shared, id: at(ROW.id), area: at(ROW.score), iscrowd: at(ROW.maskScore) };
  return { ...shared, score: at(ROW.score), ...(Number.isNaN(at(ROW.maskScore)) ? {} : { mask_score: at(ROW.maskScore) }) };
}

const finite = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.double({ min: 0, max: 1, noNaN: true }));
const id = fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 });
const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ']', '\n', 'é', '\u2028') });
const mask = fc.oneof(
  fc.record({ size: fc.tuple(id, id), counts: text }),
  fc.array(fc.array(finite, { minLength: 1 }), { minLength: 1 }),
  fc.record({ size: fc.tuple(id, id), counts: fc.array(id) }),
);
const box = fc.tuple(finite, finite, finite, finite);
const result = fc.record(
  { image_id: id, category_id: id, bbox: box, score: finite, mask_score: finite, segmentation: mask },
  { requiredKeys: ['image_id', 'category_id', 'bbox', 'score'] },
);
const annotation = fc.record(
  { id, image_id: id, category_id: id, bbox: box, area: finite, iscrowd: fc.constantFrom(0, 1), segmentation: mask },
  { requiredKeys: ['id', 'image_id', 'category_id', 'bbox', 'area', 'iscrowd'] },
);
/** Members that mean nothing here. */
const others = fc.dictionary(fc.constantFrom('note', 'caption', 'x'), fc.jsonValue());
/** In any order, with more or less space. */
const shuffled = (object: fc.Arbitrary<Member>) =>
  fc
    .tuple(object, others)
    .chain(([one, more]) =>
      fc.shuffledSubarray(Object.entries({ ...more, ...one }), { minLength: Object.keys({ ...more, ...one }).length }),
    )
    .map(entries => Object.fromEntries(entries));
const spaces = fc.constantFrom(undefined, 1, '\t');
const pieceBytes = fc.integer({ min: 1, max: 200 });

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** −0 and 0 are the same id and coordinate. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('rows', () => {
  it('of results have their numbers, and the places of their masks', () => {
    fc.assert(
      fc.property(fc.array(shuffled(result)), spaces, pieceBytes, (results, space, length) => {
        const found = scan(JSON.stringify(results, null, space), length);
        const wanted = results.map(({ note, caption, x, ...known }) => known);
        expect(plain(found?.rows.map(row => readBack(row, found.bytes, 'result')))).toEqual(plain(wanted));
        expect(found?.rest).toBeUndefined();
      }),
    );
  });

  it('of an instances file have its annotations, and the rest is JSON', () => {
    const file = fc.record({
      images: fc.array(fc.record({ id, file_name: text })),
      info: fc.jsonValue(),
      annotations: fc.array(shuffled(annotation)),
    });
    fc.assert(
      fc.property(shuffled(file), spaces, pieceBytes, (whole, space, length) => {
        const found = scan(JSON.stringify(whole, null, space), length);
        const { annotations, ...rest } = whole as { readonly annotations: readonly Member[] };
        const wanted = annotations.map(({ note, caption, x, ...known }) => known);
        expect(plain(found?.rows.map(row => readBack(row, found.bytes, 'annotation')))).toEqual(plain(wanted));
        expect(JSON.parse(found?.rest ?? '')).toEqual(plain(rest));
      }),
    );
  });

  it.each([
    '0.1',
    '-0.0',
    '123456789012345',
    '1234567890123456',
    '0.30000000000000004',
    '5e-324',
    '1E+2',
    '0.000001234567890123',
    '-12.5e1',
  ])('have the number %s as JSON.parse gives it', number => {
    const found = scan(`[{"image_id":1,"category_id":1,"bbox":[0,0,1,1],"score":${number}}]`, 7);
    expect(found?.rows[0]?.[ROW.score]).toBe(JSON.parse(number));
  });

  const whole = '[{"image_id":1,"category_id":2,"bbox":[1,2,3,4],"score":0.5,"segmentation":[]}]';
  it.each([
    ['text as an id', whole.replace('1', '"1"')],
    ['an id that no number holds', whole.replace('1', '9007199254740993')],
    ['a score that is no number', whole.replace('0.5', 'NaN')],
    ['a number that is too large', whole.replace('0.5', '1e999')],
    ['no score', whole.replace('"score"', '"scores"')],
    ['a box of three numbers', whole.replace(',4]', ']')],
    ['no box', whole.replace('[1,2,3,4]', 'null')],
    ['a mask that is a number', whole.replace('[]', '3')],
    ['keypoints', whole.replace('"score"', '"keypoints":[1,1,2],"score"')],
    ['an escaped name', whole.replace('"score"', '"mask\\u005fscore":1,"score"')],
    ['a number with a leading zero', whole.replace('0.5', '00.5')],
    ['a number without decimals', whole.replace('0.5', '1.')],
    ['a comma too many', whole.replace('}]', '},]')],
    ['a member too few', whole.replace('}]', ',}]')],
    ['something after the list', `${whole} 1`],
    ['a list that breaks off', whole.slice(0, -1)],
    ['a text that breaks off', whole.slice(0, 40)],
    ['nothing', ''],
    ['a number', '1'],
    ['a list of lists', '[[]]'],
    ['annotations twice', '{"annotations":[],"annotations":[]}'],
    ['annotations that are no list', '{"annotations":{}}'],
    ['an annotation without an area', '{"annotations":[{"id":1,"image_id":1,"category_id":1,"iscrowd":0,"bbox":[0,0,1,1]}]}'],
    ['half a crowd', '{"annotations":[{"id":1,"image_id":1,"category_id":1,"iscrowd":0.5,"area":1,"bbox":[0,0,1,1]}]}'],
  ])('are not made of %s', (_what, file) => {
    expect([1, 5, 1000].map(length => scan(file, length))).toEqual([undefined, undefined, undefined]);
  });

  it('of a file with a changed byte say what JSON.parse says, where it takes the file', () => {
    const file = `{"images":[{"id":1}],"annotations":[${JSON.stringify({ id: 1, image_id: 1, category_id: 2, bbox: [1, 2.5, 3, 4], area: 12, iscrowd: 0 })}]}`;
    fc.assert(
      fc.property(fc.nat({ max: file.length - 1 }), fc.constantFrom(...'0159.-eE"{}[],: x'), (at, letter) => {
        const changed = file.slice(0, at) + letter + file.slice(at + 1);
        const found = scan(changed, 11);
        // Lists and objects that are passed are read by whoever takes the rest.
        if (found === undefined || !isJson(found.rest ?? '')) return;
        const parsed = JSON.parse(changed) as { readonly annotations?: readonly Member[] };
        const wanted = (parsed.annotations ?? []).map(one => ({
          id: one.id,
          image_id: one.image_id,
          category_id: one.category_id,
          bbox: one.bbox,
          area: one.area,
          iscrowd: one.iscrowd,
        }));
        expect(plain(found.rows.map(row => readBack(row, found.bytes, 'annotation')))).toEqual(plain(wanted));
      }),
      { numRuns: 2000 },
    );
  });

  it('of blocks that are not all there are none', () => {
    const scanner = openRowScanner();
    const all = Uint8Array.from(Buffer.concat([scanner.push(Buffer.from(whole)) ?? Buffer.alloc(0), scanner.end() ?? Buffer.alloc(0)]));
    expect(decodeRows(all.buffer)?.count).toBe(1);
    for (let length = 0; length < all.length; length += 4) expect(decodeRows(all.slice(0, length).buffer)).toBeUndefined();
    expect(decodeRows(Uint8Array.from([...all, ...all]).buffer)).toBeUndefined();
  });
});
