/** Arithmetic of a window operator (Conv, MaxPool, AveragePool) along one axis of a tile. */

export interface AxisWindow {
  readonly kernel: number;
  readonly stride: number;
  readonly dilation: number;
  readonly padBegin: number;
  readonly padEnd: number;
}

export interface TileWindow {
  /** Size of the output tile; below 1 if no window fits. */
  readonly tile: number;
  /** The farthest position that a window reads before the tile, and behind it. */
  readonly before: number;
  readonly behind: number;
  /** Smallest pitch at the input with which the windows of two tiles read neither each other's tile nor overlap in the output. */
  readonly leastPitch: number;
}

/** The windows of a tile of `size` positions. On a canvas, window k of tile i is window i·pitch/stride + k, so that the pitch must be a multiple of the stride. */
export function slideOver(size: number, { kernel, stride, dilation, padBegin, padEnd }: AxisWindow): TileWindow {
  const reach = (kernel - 1) * dilation;
  const tile = Math.floor((size + padBegin + padEnd - reach - 1) / stride) + 1;
  const last = (tile - 1) * stride - padBegin + reach;
  const behind = Math.max(0, last - (size - 1));
  return { tile, before: padBegin, behind, leastPitch: Math.max(size + Math.max(padBegin, behind), tile * stride) };
}
