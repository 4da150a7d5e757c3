/** Figures in reports and metrics: a finite number, or "equal" if the error is zero and its ratio would be infinite. */

import { findOwn } from './find-own.js';
import type { JsonReader } from './json/json-shape.js';
import { isJsonObject, type Json } from './json.js';

/** The SQNR of equal tensors. JSON has no infinity. */
export const EQUAL = 'equal';

export type Figure = number | typeof EQUAL;

/** Whether `value` is a figure; numbers that JSON cannot represent are not. */
export function isFigure(value: Json | undefined): value is Figure {
  return value === EQUAL || (typeof value === 'number' && Number.isFinite(value));
}

/** The figure at a dotted path. Names that contain dots are found too, and a whole name before one of an inner object. */
export function findFigure(figures: Json | undefined, path: string): Figure | undefined {
  if (!isJsonObject(figures)) return undefined;
  const direct = findOwn(figures, path);
  if (isFigure(direct)) return direct;
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const found = findFigure(findOwn(figures, path.slice(0, dot)), path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The sort key of a figure: "equal" is above all numbers. */
export function rankOf(figure: Figure): number {
  return figure === EQUAL ? Number.POSITIVE_INFINITY : figure;
}

/** The lowest figure; "equal" for an empty list. */
export function leastFigure(figures: readonly Figure[]): Figure {
  const least = Math.min(...figures.map(rankOf));
  return Number.isFinite(least) ? least : EQUAL;
}

/** `b − a`; undefined if exactly one is "equal". */
export function differenceOf(a: Figure, b: Figure): number | undefined {
  return a === EQUAL || b === EQUAL ? undefined : b - a;
}

/** The dotted path of the first number in `value` that JSON cannot represent; '' for `value` itself. */
export function findNonFinite(value: Json): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '';
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const inner = findNonFinite(member);
    if (inner !== undefined) return inner === '' ? name : `${name}.${inner}`;
  }
  return undefined;
}

export const readFigure: JsonReader<Figure> = (value, path, problems) => {
  if (isFigure(value)) return value;
  problems.push({ path, message: 'should be a number, or "equal"' });
  return undefined;
};
