/** Boxes as decoders return them: the positions of four sides. */

/** x1 y1 x2 y2 */
export type Sides = readonly [number, number, number, number];

export function aroundCenter(cx: number, cy: number, width: number, height: number): Sides {
  return [cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2];
}
