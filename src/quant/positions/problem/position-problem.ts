/** The positions of a quantized model as a problem in integers: variables with the error of each position, and rules between them. */
import type { PositionLimits } from './position-limits.js';
import type { PositionRule, VariableIndex } from './position-rule.js';

export interface PositionVariable {
  /** Of the tensor whose scale it is. */
  readonly name: string;
  readonly role: 'activation' | 'weight' | 'bias';
  /** Where the range method put it. */
  readonly start: number;
  /** The user set range or scale: it does not move. */
  readonly isFixed: boolean;
  /** Squared error of the tensor at a position, relative to its sum of squares; of a bias, relative to that of the output that it is added to. */
  readonly errorAt: (position: number) => number;
}

export interface PositionProblem {
  readonly variables: readonly PositionVariable[];
  /** In graph order. */
  readonly rules: readonly PositionRule[];
  readonly limits: PositionLimits;
}

export interface PositionSolution {
  /** By variable. */
  readonly positions: readonly number[];
  /** Whether no other positions cost less; undefined if the method does not compare costs. */
  readonly isOptimal: boolean | undefined;
  /** Rules that made each variable move. */
  readonly reasons: ReadonlyMap<VariableIndex, readonly PositionRule[]>;
}

/** What a move costs: by how much the relative squared error grows. A move that lowers it, outside the candidates of the range method, is free. */
export function priceOf({ errorAt, start }: PositionVariable, position: number): number {
  return position === start ? 0 : Math.max(0, errorAt(position) - errorAt(start));
}
