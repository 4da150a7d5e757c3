/** A vendor's cache that is keyed by names and shapes gives the old compiled model to a newly quantized one: ours changes with weights, scales and options. */
import { smallQdqModel } from '../../support/qdq-model.js';
import { temporaryFolder } from '../../support/run-stage.js';
import { writeSmallBundle } from '../../support/small-bundle.js';

const folder = await temporaryFolder('cache-key');
afterAll(folder.remove);

const keysOf = async (model = smallQdqModel()): Promise<Readonly<Record<string, string>>> =>
  (await writeSmallBundle(folder.path, { model, samples: 0 })).manifest.models[0]?.cacheKeys ?? {};

describe('the cache key of a compiled model', () => {
  it.each([
    [
      'one weight',
      smallQdqModel([
        [64, -32, 16, 97],
        [-80, 48, 112, 24],
      ]),
    ],
    ['one scale', smallQdqModel(undefined, 0.125)],
  ])('is another where names and shapes are equal and %s is another', async (_, changed) => {
    const [before, after] = [await keysOf(), await keysOf(changed)];
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const [place, key] of Object.entries(before)) expect(after[place]).not.toBe(key);
  });

  it('is equal for equal models, and different for each set of options', async () => {
    const keys = await keysOf();
    expect(await keysOf()).toEqual(keys);
    expect(Object.keys(keys)).toHaveLength(20);
    expect(new Set(Object.values(keys)).size).toBe(20);
  });
});
