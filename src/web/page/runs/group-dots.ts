/** Points of a scatter that lie on each other, as one dot each. */
import { formatPoint } from './point-axes.js';

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

/** What a tooltip says of a group: each point by its name, with its figures where they differ as they are shown. @param names of both figures. */
export function describeGroup({ shown, dots }: DotGroup, [nameX, nameY]: readonly [string, string]): readonly string[] {
  const nameOf = ({ name, label }: Dot): string => (label === name ? name : `${name} ${label}`);
  const figuresOf = ({ x, y }: Dot): readonly string[] => [`${nameX}: ${formatPoint(nameX, x)}`, `${nameY}: ${formatPoint(nameY, y)}`];
  const common = figuresOf(shown);
  const areEqual = dots.every(dot => figuresOf(dot).every((figure, axis) => figure === common[axis]));
  // The shown point is listed in any case: a click picks it.
  const listed = [shown, ...dots.filter(dot => dot !== shown)].slice(0, MOST_LISTED);
  return [
    ...listed.map(dot => (areEqual ? nameOf(dot) : `${nameOf(dot)} (${figuresOf(dot).join(', ')})`)),
    ...(dots.length > MOST_LISTED ? [`and ${dots.length - MOST_LISTED} more`] : []),
    ...(areEqual ? common : []),
    ...(dots.length === 1 ? [] : [`A click picks ${shown.name}.`]),
  ];
}

/** Points of one place that a tooltip names. */
const MOST_LISTED = 12;

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
