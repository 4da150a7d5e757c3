/** Files as the server answers them: as rows, in parts, and never in part of another file than the page knows. */
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { decodeRows } from '../../../src/detection/coco/row-blocks.js';
import { answerArtifact, type FileForm } from '../../../src/web/views/artifact-file.js';
import { asRows, parseByteRange } from '../../../src/web/views/coco-rows.js';
import { failureOf } from '../../support/error-code.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-rows-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const result = (id: number) => `{"image_id":${id},"category_id":1,"bbox":[0,0,1,1],"score":0.5,"segmentation":[[${'1,'.repeat(20)}1]]}`;
const text = (count: number): string => `[${Array.from({ length: count }, (_, id) => result(id)).join()}]`;

function write(content: string): string {
  const path = join(folder, 'detections.json');
  writeFileSync(path, content);
  return path;
}

const answer = (path: string, form?: FileForm) => answerArtifact({ kind: 'file', path, name: path }, form);

async function bodyOf({ body }: ReturnType<typeof answer>): Promise<Buffer> {
  if (!(body instanceof Readable)) return Buffer.from(body);
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

describe('a COCO file', () => {
  it.each([
    ['small', 3],
    ['larger than what is read at once', 20_000],
  ])('that is %s is answered as rows', async (_what, count) => {
    const rows = await bodyOf(answer(write(text(count)), { as: 'rows' }));
    expect(decodeRows(Uint8Array.from(rows).buffer)?.count).toBe(count);
    expect(answer(write(text(1)), { as: 'rows' }).headers['content-type']).toBe('application/octet-stream');
  });

  it.each([
    ['small', 3],
    ['larger than what is read at once', 20_000],
  ])('that is %s and has a score of NaN ends without the last block', async (_what, count) => {
    const rows = await bodyOf(answer(write(text(count).replace('0.5', 'NaN')), { as: 'rows' }));
    expect(decodeRows(Uint8Array.from(rows).buffer)).toBeUndefined();
  });

  it('is read no further than to what rows cannot hold', async () => {
    let read = 0;
    const source = Readable.from(
      (async function* () {
        for (;;) {
          read++;
          yield Buffer.from(text(1).replace('0.5', 'NaN'));
        }
      })(),
    );
    for await (const piece of asRows(source) as Readable) expect(piece).toHaveLength(0);
    expect(source.destroyed).toBe(true);
    expect(read).toBeLessThan(100);
  });

  it('that cannot be read further is an error of the answer', async () => {
    const source = new Readable({ read: () => undefined });
    const rows = asRows(source) as Readable;
    source.destroy(new Error('the disk is gone'));
    await expect(rows.toArray()).rejects.toThrow('the disk is gone');
  });

  it('is closed when the client leaves', async () => {
    const source = Readable.from([Buffer.from(text(1))]);
    (asRows(source) as Readable).destroy();
    await new Promise(resolve => source.once('close', resolve));
    expect(source.destroyed).toBe(true);
  });
});

describe('bytes of a file', () => {
  it.each([
    [0, 4, '0123'],
    [8, 100, '89'],
    [100, 200, ''],
  ])('from %i to %i are those of the file', async (start, end, wanted) => {
    expect(String(await bodyOf(answer(write('0123456789'), { bytes: { start, end } })))).toBe(wanted);
  });

  it('may be many', async () => {
    const content = text(20_000);
    const found = await bodyOf(answer(write(content), { bytes: { start: 100, end: 1_200_100 } }));
    expect(String(found)).toBe(content.slice(100, 1_200_100));
  });

  it.each([
    [
      'of equal length in its place',
      (path: string) => {
        writeFileSync(`${path}.new`, 'b');
        renameSync(`${path}.new`, path);
      },
    ],
    ['of another time', (path: string) => utimesSync(path, 1, 2)],
    ['that has grown', (path: string) => writeFileSync(path, 'more')],
  ])('of a file %s are refused', async (_what, change) => {
    const path = write('a');
    const known = answer(path).headers['tanren-stamp'];
    expect(answer(path, { known }).status).toBe(200);
    change(path);
    expect((await failureOf(() => answer(path, { known, bytes: { start: 0, end: 1 } }))).code).toBe('ui-file-changed');
  });

  it.each([
    '',
    '1',
    '-1',
    '1-',
    '2-1',
    '1-1',
    'a-b',
    '0-1,2-3',
    '0x1-0x2',
    '1e3-2e3',
    `0-${'9'.repeat(16)}`,
  ])('"%s" is no range', async given => {
    expect((await failureOf(() => parseByteRange(given))).code).toBe('ui-bad-request');
  });

  it('may not be more than the page shows', async () => {
    expect(parseByteRange('5-16000005')).toEqual({ start: 5, end: 16_000_005 });
    expect((await failureOf(() => parseByteRange('5-16000006'))).code).toBe('ui-too-large');
  });
});
