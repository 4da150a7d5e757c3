/** Axes of runs and configurations: parameters that differ, and figures; and the Pareto front of two figures. */
import { type Figure, rankOf } from '../../../base/figure.js';
import type { Json } from '../../../base/json.js';
import { formatBytes } from '../../../base/text/format.js';
import { formatFigure } from '../../../report/numbers.js';

/** A run, or a configuration of a sweep. */
export interface Point {
  readonly name: string;
  /** What tells it from others, where it is drawn. Default: the name. */
  readonly label?: string;
  readonly params: Readonly<Record<string, Json>>;
  readonly figures: Readonly<Record<string, Figure>>;
}

/** 'values': one place per value, in their order. 'numbers': a scale between two bounds. */
export type PointAxis =
  | { readonly kind: 'values'; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: 'numbers'; readonly name: string; readonly low: number; readonly high: number };

export type Goal = 'most' | 'least';

/** Two figures of a scatter, and which values of each are better. */
export interface ScatterFigures {
  readonly x: string | undefined;
  readonly y: string | undefined;
  readonly goals: readonly [Goal, Goal];
}

/**
 * The first objective over the first one with the other goal: what is paid for it says more than a second accuracy. Figures that no point has are not
 * chosen.
 */
export function chooseFigures(
  objectives: readonly { readonly metric: string; readonly goal: 'maximize' | 'minimize' }[],
  points: readonly Point[],
): ScatterFigures | undefined {
  const known = objectives.filter(({ metric }) => points.some(point => numberOf(point, metric) !== undefined));
  const [first, ...others] = known;
  const price = others.find(({ goal }) => goal !== first?.goal) ?? others[0];
  if (first === undefined || price === undefined) return undefined;
  const goalOf = ({ goal }: (typeof known)[number]): Goal => (goal === 'maximize' ? 'most' : 'least');
  return { x: price.metric, y: first.metric, goals: [goalOf(price), goalOf(first)] };
}

/** Differing parameters, then those of the figures that some point has. A figure that is equal everywhere has an axis too. */
export function axesOf(points: readonly Point[], figures: readonly string[]): readonly PointAxis[] {
  const params = differingParams(points).map(
    (name): PointAxis =>
      axisOf(
        name,
        points.map(({ params: own }) => own[name]),
      ),
  );
  const numbers = figures.flatMap((name): readonly PointAxis[] => {
    const found = points.flatMap(point => numberOf(point, name) ?? []);
    return found.length === 0 ? [] : [{ kind: 'numbers', name, low: Math.min(...found), high: Math.max(...found) }];
  });
  return [...params, ...numbers];
}

function axisOf(name: string, values: readonly (Json | undefined)[]): PointAxis {
  const present = values.filter(value => value !== undefined);
  if (present.length > 0 && present.every(value => typeof value === 'number'))
    return { kind: 'numbers', name, low: Math.min(...(present as number[])), high: Math.max(...(present as number[])) };
  return { kind: 'values', name, values: [...new Set(present.map(textOf))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })) };
}

/** The place of a point on an axis: 0 is the lower end, 1 the upper one. undefined where it has no value. */
export function placeOn(axis: PointAxis, { params, figures }: Pick<Point, 'params' | 'figures'>): number | undefined {
  if (axis.kind === 'values') {
    const value = params[axis.name];
    const index = value === undefined ? -1 : axis.values.indexOf(textOf(value));
    if (index < 0) return undefined;
    return axis.values.length === 1 ? 0.5 : index / (axis.values.length - 1);
  }
  const given = params[axis.name];
  const value = typeof given === 'number' ? given : numberOf({ figures }, axis.name);
  if (value === undefined) return undefined;
  return axis.high === axis.low ? 0.5 : (value - axis.low) / (axis.high - axis.low);
}

/** The name of the size of the models among the figures of a sweep. */
export const SIZE = 'size';

/** A figure of a point, for people. */
export function formatPoint(name: string, figure: Figure): string {
  return name === SIZE && typeof figure === 'number' ? formatBytes(figure) : formatFigure(figure);
}

/** undefined without the figure, and for "equal", which has no place on an axis. */
export function numberOf({ figures }: Pick<Point, 'figures'>, name: string): number | undefined {
  const figure = Object.hasOwn(figures, name) ? figures[name] : undefined;
  const rank = figure === undefined ? Number.NaN : rankOf(figure);
  return Number.isFinite(rank) ? rank : undefined;
}

/** Names of the points for which no point is at least as good in both figures and better in one, from left to right. */
export function findFront(
  points: readonly Point[],
  x: string | undefined,
  y: string | undefined,
  [goalX, goalY]: readonly [Goal, Goal],
): readonly string[] {
  if (x === undefined || y === undefined) return [];
  const dots = points.flatMap(point => {
    const [across, up] = [numberOf(point, x), numberOf(point, y)];
    return across === undefined || up === undefined ? [] : [{ name: point.name, x: across, y: up }];
  });
  const [signX, signY] = [goalX === 'most' ? 1 : -1, goalY === 'most' ? 1 : -1];
  type Dot = (typeof dots)[number];
  const beats = (a: Dot, b: Dot): boolean =>
    signX * (a.x - b.x) >= 0 && signY * (a.y - b.y) >= 0 && (signX * (a.x - b.x) > 0 || signY * (a.y - b.y) > 0);
  return dots
    .filter(dot => !dots.some(other => beats(other, dot)))
    .sort((a, b) => a.x - b.x)
    .map(({ name }) => name);
}

export function differingParams(points: readonly Pick<Point, 'params'>[]): readonly string[] {
  const names = [...new Set(points.flatMap(({ params }) => Object.keys(params)))];
  return names.filter(name => new Set(points.map(({ params }) => JSON.stringify(params[name]))).size > 1);
}

export function textOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
