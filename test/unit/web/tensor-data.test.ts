/** A tensor as channels of pictures, for the view "Tensor". */
import { channelOf, countBins, decodeFloats, extentOf, gridOf, rankChannels, subtract } from '../../../src/web/page/tensor/tensor-data.js';

it.each([
  [[], { rows: 1, channels: 1, height: 1, width: 1 }],
  [[7], { rows: 1, channels: 1, height: 1, width: 7 }],
  [[2, 7], { rows: 1, channels: 1, height: 2, width: 7 }],
  [[3, 4, 5], { rows: 1, channels: 3, height: 4, width: 5 }],
  [[2, 3, 4, 5], { rows: 2, channels: 3, height: 4, width: 5 }],
  [[6, 2, 3, 4, 5], { rows: 12, channels: 3, height: 4, width: 5 }],
])('of the shape %j every element is in one channel of one row', (dims, grid) => {
  expect(gridOf(dims)).toEqual(grid);
  const data = Float32Array.from({ length: dims.reduce((all, dim) => all * dim, 1) }, (_, index) => index);
  const parts = Array.from({ length: grid.rows }, (_, row) =>
    Array.from({ length: grid.channels }, (_, channel) => [...channelOf(data, grid, row, channel)]),
  );
  expect(parts.flat(2)).toEqual([...data]);
});

it('ranks channels by their squared difference in one row', () => {
  const grid = gridOf([2, 3, 1, 2]);
  const difference = Float32Array.from([0, 0, 3, 0, 1, 1, 9, 9, 0, 0, 0, 0]);
  expect(rankChannels(difference, grid, 0)).toEqual([1, 2, 0]);
  expect(rankChannels(difference, grid, 1)).toEqual([0, 1, 2]);
});

it('counts each number once, without NaN, and what is outside in the ends', () => {
  const data = Float32Array.from([0, 0.1, 0.5, 1, 2, -5, Number.NaN]);
  expect(countBins(data, { min: 0, max: 1 }, 4)).toEqual([3, 0, 1, 2]);
  expect(countBins(Float32Array.from([3, 3]), { min: 3, max: 3 }, 4)).toEqual([2, 0, 0, 0]);
});

it('leaves broken values out of the extent, and decodes what was encoded', () => {
  const data = Float32Array.from([1, -3, Number.NaN, Number.POSITIVE_INFINITY, 5]);
  expect(extentOf(data)).toEqual({ min: -3, max: 5, mean: 1 });
  expect(extentOf(new Float32Array(0))).toEqual({ min: 0, max: 0, mean: 0 });
  expect(decodeFloats(Buffer.from(data.buffer).toString('base64'))).toEqual(data);
  expect([...subtract(Float32Array.from([1, 2]), Float32Array.from([4, 1]))]).toEqual([3, -1]);
});
