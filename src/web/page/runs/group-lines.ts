/** Lines over parallel axes that cover each other, as one line each. */
import { type Point, type PointAxis, placeOn } from './point-axes.js';

export interface LineGroup {
  /** The point that is named first, and that a press picks: one of the Pareto front if the group has one, else the first. */
  readonly shown: Point;
  /** All points of this line, `shown` among them. */
  readonly points: readonly Point[];
  /** Places in pixels, "x,y" with one decimal; one for each axis on which the points have a value. */
  readonly places: readonly string[];
}

/**
 * Points without a value on any axis have no line.
 * @param x of an axis by its index. @param y of a share of an axis. @param front names of the points that no other one beats.
 */
export function groupLines(
  points: readonly Point[],
  axes: readonly PointAxis[],
  { x, y }: { readonly x: (index: number) => number; readonly y: (share: number) => number },
  front: readonly string[],
): readonly LineGroup[] {
  const isBest = new Set(front);
  const groups = new Map<string, { readonly places: readonly string[]; readonly points: Point[] }>();
  for (const point of points) {
    const places = axes.flatMap((axis, index) => {
      const share = placeOn(axis, point);
      return share === undefined ? [] : [`${x(index)},${y(share).toFixed(1)}`];
    });
    const line = places.join(' ');
    const group = groups.get(line);
    if (group !== undefined) group.points.push(point);
    else if (line !== '') groups.set(line, { places, points: [point] });
  }
  return [...groups.values()].flatMap(({ places, points: own }) => {
    const shown = own.find(({ name }) => isBest.has(name)) ?? own[0];
    return shown === undefined ? [] : [{ shown, points: own, places }];
  });
}

/** The last place of a group that no other group has, else its last one: its number is written there. */
export function findOwnPlace({ places }: LineGroup, groups: readonly LineGroup[]): string | undefined {
  const isOwn = (place: string): boolean => groups.filter(group => group.places.includes(place)).length === 1;
  return [...places].reverse().find(isOwn) ?? places.at(-1);
}

/** Points of one line that a tooltip names. */
const MOST_LISTED = 12;

/** The names of the points; with several, also which one a click picks. */
export function nameLine({ shown, points }: Pick<LineGroup, 'shown' | 'points'>): readonly string[] {
  const listed = [shown, ...points.filter(point => point !== shown)].slice(0, MOST_LISTED);
  const more = points.length - listed.length;
  return [
    `${listed.map(({ name }) => name).join(', ')}${more === 0 ? '' : ` and ${more} more`}`,
    ...(points.length === 1 ? [] : [`A click picks ${shown.name}.`]),
  ];
}
