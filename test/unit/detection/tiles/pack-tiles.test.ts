/** Rows packed into tiles of a canvas, and read back. */
import { fillMask, packTiles, unpackTiles } from '../../../../src/detection/tiles/pack-tiles.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';

const CANVAS = { channels: 1, tile: [2, 1], pitch: [3, 2] } as const;
const GRID = [2, 2] as const;

it('rows lie at multiples of the pitch; gaps and unused tiles are zeros', () => {
  const rows = makeTensor('float32', [4, 1, 2, 1], Float32Array.from([9, 9, 1, 2, 3, 4, 5, 6]));
  const { dims, data } = packTiles(rows, 1, CANVAS, GRID);
  expect(dims).toEqual([1, 1, 5, 3]);
  expect([...data]).toEqual([1, 0, 3, 2, 0, 4, 0, 0, 0, 5, 0, 0, 6, 0, 0]);
});

it('unused tiles and gaps are never read', () => {
  const packed = Float32Array.from([1, 7, 3, 2, 7, 4, 7, 7, 7, 5, 7, 7, 6, 7, 7]);
  const rows = new Float32Array(8);
  unpackTiles(packed, rows, 1, CANVAS, GRID);
  expect([...rows]).toEqual([0, 0, 1, 2, 3, 4, 5, 6]);
});

it('a mask is one inside every tile, used or not, and zero between them', () => {
  expect([...fillMask(CANVAS, GRID).data]).toEqual([1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1]);
});
