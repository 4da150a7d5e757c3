/** Prior boxes of an SSD head: one per cell, row by row, and size. */
import type { ImageSize } from '../../../image/image-size.js';
import type { PriorLevel } from './decoder.js';

export function countPriors(levels: readonly PriorLevel[]): number {
  return levels.reduce((count, { columns, rows, sizes }) => count + columns * rows * sizes.length, 0);
}

/** cx cy w h per prior, as fractions of the input, clipped to 0…1. */
export function listPriors(levels: readonly PriorLevel[], input: ImageSize): Float64Array {
  const priors: number[] = [];
  for (const { columns, rows, sizes } of levels)
    for (let y = 0; y < rows; y++)
      for (let x = 0; x < columns; x++)
        for (const [width = 0, height = 0] of sizes)
          priors.push((x + 0.5) / columns, (y + 0.5) / rows, width / input.width, height / input.height);
  return Float64Array.from(priors, value => Math.min(Math.max(value, 0), 1));
}
