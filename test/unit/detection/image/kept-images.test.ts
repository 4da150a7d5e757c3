/** Images that are decoded once, and their preprocessed form. */
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepImages } from '../../../../src/detection/image/kept-images.js';
import { keepResults } from '../../../../src/detection/image/kept-results.js';
import { preprocessImage } from '../../../../src/detection/image/preprocessing.js';
import { PREPROCESSING_SCHEMA, type Preprocessing } from '../../../../src/detection/image/preprocessing-schema.js';
import { makeJpeg } from '../../../support/make-jpeg.js';
import { ajvOf } from '../../../support/params-schema.js';

describe('kept images', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kept-'));
    for (const id of [1, 2]) await writeFile(at(`${id}.jpg`), await makeJpeg(8, 8, id));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are decoded once while they fit the budget', async () => {
    const read = keepImages(8 * 8 * 3);
    const [first, second] = [await read(at('1.jpg')), await read(at('2.jpg'))];
    expect(await read(at('1.jpg'))).toBe(first);
    const again = await read(at('2.jpg'));
    expect(again).not.toBe(second);
    expect(again).toEqual(second);
  });

  it('are preprocessed once per size and settings', async () => {
    const image = await keepImages()(at('1.jpg'));
    const plain = ajvOf(PREPROCESSING_SCHEMA)({ resize: 'stretch' }) as Preprocessing;
    const one = preprocessImage(image, { height: 4, width: 4 }, plain);
    expect(preprocessImage(image, { height: 4, width: 4 }, { ...plain })).toBe(one);
    expect(preprocessImage(image, { height: 4, width: 6 }, plain).tensor.dims).toEqual([1, 3, 4, 6]);
    const moved = preprocessImage(image, { height: 4, width: 4 }, { ...plain, mean: [0.5, 0.5, 0.5] });
    expect(moved.tensor.data[0]).toBeCloseTo((one.tensor.data[0] ?? 0) - 0.5, 6);
    expect(preprocessImage({ ...image }, { height: 4, width: 4 }, plain).tensor).toEqual(one.tensor);
  });
});

describe('kept results', () => {
  it('are made again where the budget is spent, and leave room when they are replaced', () => {
    const results = keepResults<object, Uint8Array>(10, ({ length }) => length);
    const [one, two] = [{}, {}];
    let made = 0;
    const ask = (owner: object, key: string, length: number): Uint8Array =>
      results.getOrMake(owner, key, () => new Uint8Array(length).fill(++made));
    const first = ask(one, 'a', 6);
    expect(ask(one, 'a', 6)).toBe(first);
    // 6 of 10 bytes are taken: this one is made every time.
    expect(ask(two, 'a', 5)).not.toBe(ask(two, 'a', 5));
    expect(ask(one, 'a', 6)).toBe(first);
    // Another key replaces the result of its owner, and the room is free again.
    ask(one, 'b', 4);
    expect(ask(two, 'a', 5)).toBe(ask(two, 'a', 5));
    expect(made).toBe(5);
  });
});
