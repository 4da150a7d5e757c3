/** Which cells does a grid of some stride have over an input? Row by row, one stride after another. */
import type { ImageSize } from '../../../image/image-size.js';

export interface Cell {
  /** Counted from 0. */
  readonly x: number;
  readonly y: number;
  readonly stride: number;
}

/** A grid has ceil(side / stride) cells along a side: convolutions with padding round up. */
export function listCells({ height, width }: ImageSize, strides: readonly number[]): readonly Cell[] {
  return strides.flatMap(stride => {
    const [rows, columns] = [Math.ceil(height / stride), Math.ceil(width / stride)];
    return Array.from({ length: rows * columns }, (_, i) => ({ x: i % columns, y: Math.floor(i / columns), stride }));
  });
}
