/** Fits of whole layers: blocks of rows, the fit against least squares by normal equations, and its error on other positions. */
import { jest } from '@jest/globals';
import ort from 'onnxruntime-node';
import { dampProducts } from '../../../../../src/quant/recovery/rounding/damped-products.js';
import { fitLayer, judgeRows } from '../../../../../src/quant/recovery/rounding/fit-layer.js';
import { cutRows } from '../../../../../src/quant/recovery/rounding/row-blocks.js';
import { seededRandom } from '../../../../../src/stage/random.js';

describe('blocks of rows', () => {
  it.each([
    ['one group that fits', { groups: 1, rows: 5, columns: 2 }, 100, [[0, 1, 0, 5]]],
    [
      'one group in equal blocks',
      { groups: 1, rows: 5, columns: 2 },
      4,
      [
        [0, 1, 0, 2],
        [0, 1, 2, 2],
        [0, 1, 4, 1],
      ],
    ],
    [
      'rows that are larger than a block',
      { groups: 1, rows: 2, columns: 9 },
      4,
      [
        [0, 1, 0, 1],
        [0, 1, 1, 1],
      ],
    ],
    [
      'groups that fit together',
      { groups: 5, rows: 10, columns: 3 },
      12,
      [
        [0, 2, 0, 4],
        [2, 2, 4, 4],
        [4, 1, 8, 2],
      ],
    ],
    [
      'groups in several blocks each',
      { groups: 2, rows: 6, columns: 3 },
      6,
      [
        [0, 1, 0, 2],
        [0, 1, 2, 1],
        [1, 1, 3, 2],
        [1, 1, 5, 1],
      ],
    ],
  ])('%s', (_name, sizes, most, expected) => {
    expect(cutRows(sizes, most).map(({ first, groups, start, rows }) => [first, groups, start, rows])).toEqual(expected);
  });
});

/** Two groups of three rows with four inputs each; targets of other weights. */
function layerOf() {
  const random = seededRandom('test', 'fit layer');
  const [groups, perGroup, columns, positions] = [2, 3, 4, 30];
  const inputs = Array.from({ length: groups }, () => Float32Array.from({ length: positions * columns }, () => random() - 0.3));
  const own = Array.from({ length: groups * perGroup }, () => Float32Array.from({ length: columns }, () => random() - 0.5));
  const wanted = Array.from({ length: groups * perGroup }, () => Float32Array.from({ length: columns }, () => random() - 0.5));
  const outputOf = (row: number, position: number): number => {
    const x = inputs[Math.floor(row / perGroup)] ?? [];
    return (wanted[row] ?? new Float32Array()).reduce((sum, w, i) => sum + w * (x[position * columns + i] ?? 0), 0);
  };
  const sums = inputs.map(x => {
    const data = new Float64Array(columns * columns);
    for (let p = 0; p < positions; p++)
      for (let i = 0; i < columns; i++)
        for (let j = 0; j < columns; j++)
          data[i * columns + j] = (data[i * columns + j] ?? 0) + (x[p * columns + i] ?? 0) * (x[p * columns + j] ?? 0);
    return { kind: 'products' as const, size: columns, data };
  });
  const targets = wanted.map((_, row) =>
    Float32Array.from({ length: columns }, (_, i) =>
      Array.from({ length: positions }, (_, p) => outputOf(row, p) * (inputs[Math.floor(row / perGroup)]?.[p * columns + i] ?? 0)).reduce(
        (a, b) => a + b,
        0,
      ),
    ),
  );
  const flat = (rows: readonly Float32Array[]): Float32Array => Float32Array.from(rows.flatMap(row => [...row]));
  return { groups, perGroup, columns, positions, inputs, own: flat(own), wanted: flat(wanted), outputOf, sums, targets };
}

it('the fit finds weights that compute the targets, in every group', async () => {
  const { own, wanted, sums, targets } = layerOf();
  const products = sums.map(sum => dampProducts(sum, 1e-7));
  const fitted = await fitLayer({ weights: own, targets, products });
  // Conjugate gradients in float32 end after as many steps as there are inputs.
  expect(Math.max(...fitted.wanted.map((w, i) => Math.abs(w - (wanted[i] ?? 0))))).toBeLessThan(1e-3);
  expect(Math.max(...fitted.rest.map(Math.abs))).toBeLessThan(1e-3);
});

it('the error on judging positions is that of the outputs', async () => {
  const { groups, perGroup, columns, positions, inputs, own, wanted, outputOf } = layerOf();
  const turned = new Float32Array(groups * columns * positions);
  for (const [group, x] of inputs.entries())
    for (let p = 0; p < positions; p++)
      for (let i = 0; i < columns; i++) turned[(group * columns + i) * positions + p] = x[p * columns + i] ?? 0;
  const outputs = Float32Array.from({ length: groups * perGroup * positions }, (_, at) =>
    outputOf(Math.floor(at / positions), at % positions),
  );
  const judged = { groups, columns, positions, inputs: turned, outputs };
  expect(await judgeRows(wanted, judged)).toBeLessThan(1e-8);
  let expected = 0;
  for (let row = 0; row < groups * perGroup; row++)
    for (let p = 0; p < positions; p++) {
      const x = inputs[Math.floor(row / perGroup)] ?? new Float32Array();
      let y = 0;
      for (let i = 0; i < columns; i++) y += (own[row * columns + i] ?? 0) * (x[p * columns + i] ?? 0);
      expected += (y - outputOf(row, p)) ** 2;
    }
  expect((await judgeRows(own, judged)) / expected).toBeCloseTo(1, 4);
});

it('a session is released if the positions do not fit the weights', async () => {
  const create = jest.spyOn(ort.InferenceSession, 'create');
  const { groups, columns, positions, own } = layerOf();
  const judged = { groups, columns, positions, inputs: new Float32Array(3), outputs: new Float32Array(3) };
  await expect(judgeRows(own, judged)).rejects.toThrow('array elements');
  const [opened] = await Promise.all(create.mock.results.map(({ value }) => value as Promise<ort.InferenceSession>));
  create.mockRestore();
  await expect(opened?.release()).rejects.toThrow('already disposed');
});
