/** Finds the positions that satisfy all rules at the least cost: rules are added as the cheapest positions violate them, so that the last solution is the best of all. */
import { getDefined } from '../../../base/invariant.js';
import { POSITIONS } from '../../integers/power-of-two.js';
import type { PositionProblem, PositionSolution } from '../problem/position-problem.js';
import { holds, type PositionRule, type VariableIndex, variablesOf } from '../problem/position-rule.js';
import { findFirstSolution } from './first-solution.js';
import { type Classes, mergeAligned, type PositionClass } from './merge-aligned.js';
import { solveExactly } from './solve-exactly.js';

/** Without a first solution, positions this far from the start are tried; then all. */
const RADIUS = 16;
const ALL = POSITIONS.high - POSITIONS.low;
/** Rounding of sums. */
const SLACK = 1e-12;

/** A rule as it applies to classes. */
interface ClassRule {
  readonly rule: PositionRule;
  readonly scope: readonly number[];
  /** @param positions in the order of `scope`. */
  readonly holdsAt: (positions: readonly number[]) => boolean;
}

/**
 * Minimizes the sum of prices, then of steps, under all rules that fixed variables allow.
 * `isOptimal` is false if a group of rules was too large to solve exactly; its positions then come from repairs and small steps.
 */
export function refineJointly(problem: PositionProblem): PositionSolution {
  const merged = mergeAligned(problem);
  const rules = rulesOf(problem, merged);
  const positions = merged.classes.map(cheapest);
  const active = new Set<ClassRule>();
  let isOptimal = true;
  for (;;) {
    const violated = rules.filter(
      one => !active.has(one) && !one.holdsAt(one.scope.map(index => getDefined(positions[index], 'position'))),
    );
    if (violated.length === 0) break;
    for (const rule of violated) active.add(rule);
    for (const component of componentsOf([...active].sort(byScope))) {
      const solved = solveComponent(merged.classes, component, problem);
      if (!solved.isOptimal) isOptimal = false;
      for (const [index, position] of solved.positions) positions[index] = position;
    }
  }
  const at = (variable: VariableIndex): number => getDefined(positions[merged.classOf(variable)], 'position');
  return { positions: problem.variables.map((_, index) => at(index)), isOptimal, reasons: reasonsOf(problem, merged, [...active]) };
}

/** Rules that involve only fixed classes are left out: nothing can satisfy them. */
function rulesOf({ limits }: PositionProblem, { classes, classOf, rules }: Classes): readonly ClassRule[] {
  return rules.flatMap(rule => {
    const scope = [...new Set(variablesOf(rule).map(classOf))].sort((a, b) => a - b);
    if (scope.every(index => classes[index]?.fixed !== undefined)) return [];
    const slots = new Map(variablesOf(rule).map(variable => [variable, scope.indexOf(classOf(variable))]));
    return [{ rule, scope, holdsAt: positions => holds(rule, limits, variable => positions[slots.get(variable) ?? 0] as number) }];
  });
}

/** So that sums do not depend on the order of nodes. */
function byScope(a: ClassRule, b: ClassRule): number {
  for (const [i, index] of a.scope.entries()) if (index !== b.scope[i]) return index - (b.scope[i] ?? -1);
  return a.scope.length - b.scope.length || (a.rule.kind < b.rule.kind ? -1 : Number(a.rule.kind > b.rule.kind));
}

function around(middle: number, radius: number): readonly number[] {
  const [low, high] = [Math.max(middle - radius, POSITIONS.low), Math.min(middle + radius, POSITIONS.high)];
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}

function cheapest({ members, fixed, middle, costAt }: PositionClass): number {
  if (fixed !== undefined) return fixed;
  // One member costs nothing where it is.
  if (members.length === 1) return middle;
  return around(middle, ALL).reduce((best, position) => (costAt(position) < costAt(best) ? position : best));
}

/** Rules that share classes, directly or through others. */
function componentsOf(rules: readonly ClassRule[]): readonly (readonly ClassRule[])[] {
  const components: { scope: Set<number>; rules: ClassRule[] }[] = [];
  for (const rule of rules) {
    const touching = components.filter(({ scope }) => rule.scope.some(index => scope.has(index)));
    const joined = {
      scope: new Set([...touching.flatMap(({ scope }) => [...scope]), ...rule.scope]),
      rules: [...touching.flatMap(one => one.rules), rule].sort(byScope),
    };
    for (const one of touching) components.splice(components.indexOf(one), 1);
    components.push(joined);
  }
  return components.map(component => component.rules);
}

interface Solved {
  readonly positions: ReadonlyMap<number, number>;
  readonly isOptimal: boolean;
}

function solveComponent(classes: readonly PositionClass[], rules: readonly ClassRule[], { limits }: PositionProblem): Solved {
  const scope = [...new Set(rules.flatMap(rule => rule.scope))].sort((a, b) => a - b);
  const classAt = (index: number): PositionClass => getDefined(classes[index], 'class');
  const costAt = (index: number, position: number): number => (classAt(index).fixed === undefined ? classAt(index).costAt(position) : 0);
  const starts = new Map(scope.map(index => [index, cheapest(classAt(index))]));
  const startOf = (index: number): number => getDefined(starts.get(index), 'start');
  const first = findFirstSolution({ scope, classAt, startOf, rules, limits });
  const least = scope.reduce((sum, index) => sum + costAt(index, startOf(index)), 0);
  for (const radius of Number.isFinite(first.cost) ? [ALL] : [RADIUS, ALL]) {
    const domains = new Map(
      scope.map(index => {
        const { fixed, middle } = classAt(index);
        // No position belongs to the best solution that costs more than the first one although all others cost the least.
        const isCheap = (position: number): boolean =>
          costAt(index, position) - costAt(index, startOf(index)) <= first.cost - least + SLACK;
        return [index, fixed === undefined ? around(middle, radius).filter(isCheap) : [fixed]] as const;
      }),
    );
    const found = solveExactly({ domains, costAt, rules: rules.map(one => ({ scope: one.scope, holds: one.holdsAt })) });
    if (found === 'too-large') break;
    if (found !== 'impossible') return { positions: found, isOptimal: true };
  }
  return { positions: first.positions, isOptimal: false };
}

/** For each variable the alignments that it belongs to, and the rules that were added. */
function reasonsOf(
  { rules }: PositionProblem,
  { classOf, classes }: Classes,
  active: readonly ClassRule[],
): ReadonlyMap<VariableIndex, readonly PositionRule[]> {
  const reasons = new Map<VariableIndex, readonly PositionRule[]>();
  const add = (variable: VariableIndex, rule: PositionRule): void => void reasons.set(variable, [...(reasons.get(variable) ?? []), rule]);
  for (const rule of rules) {
    if (rule.kind === 'position-aligned') for (const variable of variablesOf(rule)) add(variable, rule);
    else if (active.some(one => one.rule === rule))
      for (const variable of new Set(variablesOf(rule).flatMap(one => classes[classOf(one)]?.members ?? []))) add(variable, rule);
  }
  return reasons;
}
