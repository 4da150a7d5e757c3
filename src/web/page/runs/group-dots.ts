/** Points of a scatter that lie on each other, as one dot each. */

export interface Dot {
  readonly name: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
}

export interface DotGroup {
  /** The point that is drawn, and that a press picks: one of the Pareto front if the group has one, else the first. */
  readonly shown: Dot;
  /** All points at this place, `shown` among them. */
  readonly dots: readonly Dot[];
}

/** Pixels in each direction within which two dots cannot be told apart. */
const NEAR = 2;

/** @param x place in pixels of a value. @param front names of the points that no other one beats. Groups are in the order of their first points. */
export function groupDots(
  dots: readonly Dot[],
  x: (value: number) => number,
  y: (value: number) => number,
  front: readonly string[],
): readonly DotGroup[] {
  const isBest = new Set(front);
  const groups: { readonly first: Dot; readonly dots: Dot[] }[] = [];
  for (const dot of dots) {
    const group = groups.find(({ first }) => Math.abs(x(first.x) - x(dot.x)) <= NEAR && Math.abs(y(first.y) - y(dot.y)) <= NEAR);
    if (group === undefined) groups.push({ first: dot, dots: [dot] });
    else group.dots.push(dot);
  }
  return groups.map(({ first, dots: own }) => ({ shown: own.find(({ name }) => isBest.has(name)) ?? first, dots: own }));
}
