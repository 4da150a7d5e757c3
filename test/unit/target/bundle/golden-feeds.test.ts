/** Golden inputs come from the data set, in the model's batch size, and are never padding. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCaptured } from '../../../../src/runtime/capture/captured.js';
import { seededRandom } from '../../../../src/stage/random.js';
import { capturedGoldenFeeds, probeFeeds, randomGoldenFeeds } from '../../../../src/target/bundle/golden-feeds.js';
import { writeNpz } from '../../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { smallQdqModel } from '../../../support/qdq-model.js';
import { temporaryFolder } from '../../../support/run-stage.js';
import { smallModel } from '../../../support/small-model.js';

const folder = await temporaryFolder('golden-feeds');
afterAll(folder.remove);

const head = (batch: number, name = 'rois') =>
  smallModel({ inputs: { [name]: ['float32', [batch, 2]] }, nodes: [{ op: 'Relu', in: [name], out: ['y'] }], outputs: ['y'] });

/** A capture of one head with the given RoIs per image; the values count up from 1. */
async function givenCapture(name: string, rows: readonly number[]) {
  const root = join(folder.path, name);
  mkdirSync(root);
  let next = 1;
  const samples = [];
  for (const [index, count] of rows.entries()) {
    const data = Float32Array.from({ length: count * 2 }, () => next++);
    await writeNpz(join(root, `s${index}.npz`), { in0: makeTensor('float32', [count, 2], data) });
    samples.push({ id: `s${index}`, source: `s${index}.jpg`, parts: { head: { file: `s${index}.npz`, rows: count, seen: count } } });
  }
  const values = [{ role: 'input', name: 'rois', dtype: 'float32', dims: ['rows', 2], array: 'in0' }];
  const index = { format: 'tanren-capture', version: 1, parts: [{ name: 'head', model: '0'.repeat(64), values }], samples };
  writeFileSync(join(root, 'index.json'), JSON.stringify(index));
  return openCaptured(root);
}

const valuesOf = (feeds: readonly Readonly<Record<string, { data: unknown }>>[]): number[][] =>
  feeds.map(feed => [...(feed.rois?.data as Float32Array)]);

describe('golden inputs', () => {
  it('fill a fixed batch with rows of consecutive samples, skipping samples without rows', async () => {
    const captured = await givenCapture('enough', [1, 0, 1, 3]);
    expect(valuesOf(await capturedGoldenFeeds(head(2), captured, 'head', 1))).toEqual([[1, 2, 3, 4]]);
    expect(valuesOf(await capturedGoldenFeeds(head(2), captured, 'head', 2))).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
  });

  it('repeat rows if there are too few, and are never zero', async () => {
    const captured = await givenCapture('few', [1, 2]);
    expect(valuesOf(await capturedGoldenFeeds(head(5), captured, 'head', 1))).toEqual([[1, 2, 3, 4, 5, 6, 1, 2, 3, 4]]);
  });

  it.each([
    ['a model with another input', head(2, 'others'), [2], /input "others" is missing/],
    ['a capture without rows', head(2), [0, 0], /no sample has rows for this part/],
  ])('of %s are refused', async (what, model, rows, message) => {
    const captured = await givenCapture(what.replaceAll(' ', '-'), rows);
    await expect(capturedGoldenFeeds(model, captured, 'head', 1)).rejects.toMatchObject({
      code: 'golden-inputs',
      message: expect.stringMatching(message),
    });
  });

  it('for probes differ everywhere, in the range that the model quantizes', () => {
    const [one, other] = probeFeeds(smallQdqModel(undefined, undefined, 2), sample => seededRandom('probe', String(sample)));
    const [a, b] = [one?.x?.data as Float32Array, other?.x?.data as Float32Array];
    expect(a.length).toBe(64);
    expect(a.every((value, at) => value !== b[at])).toBe(true);
    expect(Math.min(...a, ...b)).toBeGreaterThanOrEqual(-8);
    expect(Math.max(...a, ...b)).toBeLessThan(8);
    expect(Math.max(...a, ...b)).toBeGreaterThan(6);
  });

  it('without a capture are random and depend only on the seed', () => {
    const seeded = () => {
      let state = 0.1;
      return () => {
        state = (state * 7.3 + 0.11) % 1;
        return state;
      };
    };
    const feeds = randomGoldenFeeds(head(3), 2, seeded);
    expect(feeds).toHaveLength(2);
    expect(feeds[0]?.rois?.dims).toEqual([3, 2]);
    expect(feeds).toEqual(randomGoldenFeeds(head(3), 2, seeded));
  });
});
