/** Traces the outline of a mask as closed loops along pixel edges. */

/** Corners as alternating x and y, in pixels from the upper left corner. The last is connected to the first. Neighbors differ in exactly one coordinate. */
export type Outline = readonly number[];

/**
 * Loops around every connected component of a row-major mask and around every hole. Filled by the even-odd rule, they restore the mask. Pixels that touch
 * only at a corner are separate components. Sorted by their uppermost, then leftmost corner.
 */
export function traceOutlines(mask: ArrayLike<number>, height: number, width: number): readonly Outline[] {
  const isSet = (x: number, y: number): boolean => x >= 0 && y >= 0 && x < width && y < height && Boolean(mask[y * width + x]);
  const stride = width + 1;
  // Remaining edges, with the mask on their right: bit d of a corner is the edge that leaves it in direction d.
  const edges = new Uint8Array(stride * (height + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!isSet(x, y)) continue;
      if (!isSet(x, y - 1)) edges[y * stride + x] = (edges[y * stride + x] as number) | EAST;
      if (!isSet(x + 1, y)) edges[y * stride + x + 1] = (edges[y * stride + x + 1] as number) | SOUTH;
      if (!isSet(x, y + 1)) edges[(y + 1) * stride + x + 1] = (edges[(y + 1) * stride + x + 1] as number) | WEST;
      if (!isSet(x - 1, y)) edges[(y + 1) * stride + x] = (edges[(y + 1) * stride + x] as number) | NORTH;
    }
  }
  const outlines: Outline[] = [];
  for (let corner = 0; corner < edges.length; corner++) while (edges[corner] !== 0) outlines.push(walk(edges, corner, stride));
  return outlines;
}

/** Clockwise: the next direction is a right turn. */
const [EAST, SOUTH, WEST, NORTH] = [1, 2, 4, 8];
const DIRECTIONS = [EAST, SOUTH, WEST, NORTH] as const;

/** Removes one loop from `edges`. `start` is the first remaining corner in reading order, where no loop passes straight through. */
function walk(edges: Uint8Array, start: number, stride: number): Outline {
  const steps = [1, stride, -1, -stride];
  const points: number[] = [];
  let corner = start;
  let direction = DIRECTIONS.findIndex(bit => (edges[start] as number) & bit);
  let before = -1;
  do {
    if (direction !== before) points.push(corner % stride, Math.floor(corner / stride));
    edges[corner] = (edges[corner] as number) & ~(DIRECTIONS[direction] as number);
    corner += steps[direction] as number;
    before = direction;
    // Where two pixels touch only at this corner, the right turn stays at the pixel that the loop surrounds.
    direction =
      [1, 0, 3].map(turn => (before + turn) % 4).find(next => (edges[corner] as number) & (DIRECTIONS[next] as number)) ?? direction;
  } while (corner !== start);
  return points;
}
