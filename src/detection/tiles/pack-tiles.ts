/** Packs rows, one per RoI, into the tiles of a canvas, and reads them back. */
import { invariant } from '../../base/invariant.js';
import { type Canvas, canvasDims } from '../../onnx/tiles/canvas.js';
import type { Pair } from '../../onnx/tiles/tile-facts.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';

/** Rows `start` … of `rows` [n, …], each with channels · tile elements, on one canvas. Unused tiles and the positions between tiles are zeros. */
export function packTiles(
  { dims: [count = 0], data }: Tensor<'float32'>,
  start: number,
  canvas: Canvas,
  grid: Pair<number>,
): Tensor<'float32'> {
  const { size, copy } = copierOf(canvas, grid);
  invariant(data.length === count * size, `a row has ${data.length / count} elements, a tile ${size}`);
  const dims = canvasDims(canvas, grid);
  const packed = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
  const most = Math.min(grid[0] * grid[1], count - start);
  for (let tile = 0; tile < most; tile++) {
    copy(tile, (row, at, length) => packed.set(data.subarray((start + tile) * size + row, (start + tile) * size + row + length), at));
  }
  return makeTensor('float32', dims, packed);
}

/** Writes the first tiles of `packed` to rows `start` … of `rows`, whose rows have channels · tile elements, until `rows` is full. Other tiles are not read. */
export function unpackTiles(packed: Float32Array, rows: Float32Array, start: number, canvas: Canvas, grid: Pair<number>): void {
  const { size, copy } = copierOf(canvas, grid);
  const most = Math.min(grid[0] * grid[1], rows.length / size - start);
  for (let tile = 0; tile < most; tile++) {
    copy(tile, (row, at, length) => rows.set(packed.subarray(at, at + length), (start + tile) * size + row));
  }
}

/** Ones inside the tiles, zeros between them. */
export function fillMask(canvas: Canvas, grid: Pair<number>): Tensor<'float32'> {
  const size = canvas.channels * canvas.tile[0] * canvas.tile[1];
  const count = grid[0] * grid[1];
  return packTiles(makeTensor('float32', [count, size], new Float32Array(count * size).fill(1)), 0, canvas, grid);
}

interface Copier {
  /** Elements of a row. */
  readonly size: number;
  /** Visits the runs of a tile that are contiguous in its row and on the canvas. */
  copy(tile: number, visit: (row: number, at: number, length: number) => void): void;
}

function copierOf(canvas: Canvas, grid: Pair<number>): Copier {
  const { channels, tile, pitch } = canvas;
  const [, , height, width] = canvasDims(canvas, grid);
  return {
    size: channels * tile[0] * tile[1],
    copy(index, visit) {
      const [top, left] = [Math.floor(index / grid[1]) * pitch[0], (index % grid[1]) * pitch[1]];
      for (let channel = 0; channel < channels; channel++) {
        for (let y = 0; y < tile[0]; y++) visit((channel * tile[0] + y) * tile[1], (channel * height + top + y) * width + left, tile[1]);
      }
    },
  };
}
