/** Lists the cells of grids with given strides over an input. */
import type { ImageSize } from '../../../image/image-size.js';

export interface Cell {
  /** Counted from 0. */
  readonly x: number;
  readonly y: number;
  readonly stride: number;
}

/** Cells row by row, one stride after another. A grid has ceil(side / stride) cells per side, because padded convolutions round up. */
export function listCells({ height, width }: ImageSize, strides: readonly number[]): readonly Cell[] {
  return strides.flatMap(stride => {
    const [rows, columns] = [Math.ceil(height / stride), Math.ceil(width / stride)];
    return Array.from({ length: rows * columns }, (_, i) => ({ x: i % columns, y: Math.floor(i / columns), stride }));
  });
}
