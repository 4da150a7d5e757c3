/** The canvas of a value: where its tiles lie. */
import type { Pair } from './tile-facts.js';

/** Tile r = i·b + j of a grid a × b has its first position at (i·pitch, j·pitch) of the canvas [1, channels, …]. */
export interface Canvas {
  readonly channels: number;
  readonly tile: Pair<number>;
  readonly pitch: Pair<number>;
}

/** A value of a tiled model by its name. */
export interface CanvasValue extends Canvas {
  readonly name: string;
}

/** The canvas ends with the last tile: (a − 1) · pitch + tile positions. */
export function canvasDims({ channels, tile, pitch }: Canvas, grid: Pair<number>): readonly [number, number, number, number] {
  return [1, channels, (grid[0] - 1) * pitch[0] + tile[0], (grid[1] - 1) * pitch[1] + tile[1]];
}
