/** A solution of a few rules by repairs and small steps downwards. Its cost bounds the search for the best one. */
import { getDefined } from '../../../base/invariant.js';
import type { PositionLimits } from '../problem/position-limits.js';
import { holds, type PositionRule, repairOf, type VariableIndex } from '../problem/position-rule.js';
import type { PositionClass } from './merge-aligned.js';

export interface SmallProblem {
  /** Sorted. */
  readonly scope: readonly number[];
  readonly classAt: (index: number) => PositionClass;
  readonly startOf: (index: number) => number;
  readonly rules: readonly {
    readonly rule: PositionRule;
    readonly scope: readonly number[];
    readonly holdsAt: (positions: readonly number[]) => boolean;
  }[];
  readonly limits: PositionLimits;
}

export interface FirstSolution {
  readonly positions: ReadonlyMap<number, number>;
  /** Infinity if rules stay violated. */
  readonly cost: number;
}

const REPAIR_ROUNDS = 100;
/** Steps of one class, and of two classes of a rule at once, that are tried. */
const STEPS = [-3, -2, -1, 0, 1, 2, 3];

export function findFirstSolution(problem: SmallProblem): FirstSolution {
  const positions = new Map(problem.scope.map(index => [index, problem.startOf(index)]));
  if (!repair(problem, positions)) return { positions, cost: Number.POSITIVE_INFINITY };
  while (descend(problem, positions));
  return {
    positions,
    cost: problem.scope.reduce((sum, index) => sum + costAt(problem, index, getDefined(positions.get(index), 'position')), 0),
  };
}

function costAt({ classAt }: SmallProblem, index: number, position: number): number {
  const { fixed, costAt: cost } = classAt(index);
  return fixed === undefined ? cost(position) : 0;
}

/** Repairs rule after rule. @returns whether all hold in the end. */
function repair({ scope, rules, classAt, limits }: SmallProblem, positions: Map<number, number>): boolean {
  const indexOf = new Map(scope.flatMap(index => classAt(index).members.map(member => [member, index] as const)));
  const classOf = (variable: VariableIndex): number => getDefined(indexOf.get(variable), 'class');
  const at = (variable: VariableIndex): number => getDefined(positions.get(classOf(variable)), 'position');
  for (let round = 0; round < REPAIR_ROUNDS; round++) {
    if (rules.every(({ rule }) => holds(rule, limits, at))) return true;
    for (const { rule } of rules) {
      for (const { variable, to } of repairOf(rule, limits, at)) {
        if (classAt(classOf(variable)).fixed === undefined) positions.set(classOf(variable), to);
      }
    }
  }
  return false;
}

/** Makes the first step of one or two classes that lowers the cost. */
function descend(problem: SmallProblem, positions: Map<number, number>): boolean {
  const movable = (index: number): boolean => problem.classAt(index).fixed === undefined;
  for (const { scope } of problem.rules) {
    for (const a of scope.filter(movable)) {
      for (const b of scope.filter(index => index >= a && movable(index))) if (stepDown(problem, positions, a, b)) return true;
    }
  }
  return false;
}

function stepDown(problem: SmallProblem, positions: Map<number, number>, a: number, b: number): boolean {
  const [fromA, fromB] = [getDefined(positions.get(a), 'position'), getDefined(positions.get(b), 'position')];
  const before = costAt(problem, a, fromA) + (a === b ? 0 : costAt(problem, b, fromB));
  const touched = problem.rules.filter(({ scope }) => scope.includes(a) || scope.includes(b));
  for (const stepA of STEPS) {
    for (const stepB of a === b ? [0] : STEPS) {
      const after = costAt(problem, a, fromA + stepA) + (a === b ? 0 : costAt(problem, b, fromB + stepB));
      if (after >= before) continue;
      positions.set(a, fromA + stepA);
      if (a !== b) positions.set(b, fromB + stepB);
      if (touched.every(({ scope, holdsAt }) => holdsAt(scope.map(index => getDefined(positions.get(index), 'position'))))) return true;
      positions.set(a, fromA);
      positions.set(b, fromB);
    }
  }
  return false;
}
