/** A bound on a figure, as gates state it: ">= -0.008". */
import { assertNever } from './assert-never.js';

export const BOUND_OPERATORS = ['>=', '<=', '>', '<', '=='] as const;

export interface Bound {
  readonly operator: (typeof BOUND_OPERATORS)[number];
  readonly bound: number;
}

/** Its text. */
export const BOUND = /^\s*(>=|<=|==|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$/;

/** Returns undefined for any other form than an operator and a number. */
export function parseBound(text: string): Bound | undefined {
  const match = BOUND.exec(text);
  const bound = Number(match?.[2]);
  return match === null || !Number.isFinite(bound) ? undefined : { operator: match[1] as Bound['operator'], bound };
}

export function holdsBound(figure: number, { operator, bound }: Bound): boolean {
  switch (operator) {
    case '>=':
      return figure >= bound;
    case '<=':
      return figure <= bound;
    case '>':
      return figure > bound;
    case '<':
      return figure < bound;
    case '==':
      return figure === bound;
    default:
      return assertNever(operator);
  }
}
