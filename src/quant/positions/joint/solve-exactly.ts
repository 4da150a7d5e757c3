/** Finds the cheapest values of a few variables under rules between them, by variable elimination (dynamic programming). */
import { getDefined } from '../../../base/invariant.js';
import { type CostTable, countAssignments, type Domains, eliminate, MAX_ASSIGNMENTS, stridesOf, tabulate } from './cost-table.js';

export interface ExactProblem {
  readonly domains: Domains;
  readonly costAt: (variable: number, value: number) => number;
  /** Each over a sorted list of variables. */
  readonly rules: readonly { readonly scope: readonly number[]; readonly holds: (values: readonly number[]) => boolean }[];
}

interface Elimination {
  readonly variable: number;
  readonly scope: readonly number[];
  readonly best: Uint8Array;
}

/**
 * The value of each variable; of equally cheap ones the smallest values, in the order in which variables are eliminated.
 * @returns 'impossible' if the rules contradict each other, 'too-large' if a table would be.
 */
export function solveExactly(problem: ExactProblem): ReadonlyMap<number, number> | 'impossible' | 'too-large' {
  const { domains, costAt, rules } = problem;
  if (rules.some(({ scope }) => countAssignments(scope, domains) > MAX_EVALUATIONS)) return 'too-large';
  const folded = rules.map(rule => foldRule(rule, problem));
  const eliminations = folded.flatMap(({ elimination }) => elimination ?? []);
  const left = new Set(domains.keys());
  for (const { variable } of eliminations) left.delete(variable);
  let tables: CostTable[] = [...left].map(variable => tabulate([variable], domains, ([value = 0]) => costAt(variable, value)));
  tables.push(...folded.map(({ table }) => table));
  while (left.size > 0) {
    const variable = pickVariable(left, tables, domains);
    const own = tables.filter(({ scope }) => scope.includes(variable));
    const scope = neighborsOf(variable, own);
    if (countAssignments(scope, domains) > MAX_ASSIGNMENTS) return 'too-large';
    const { table, best } = eliminate(own, variable, domains);
    tables = [...tables.filter(one => !own.includes(one)), table];
    eliminations.push({ variable, scope: table.scope, best });
    left.delete(variable);
  }
  const total = tables.reduce((sum, { costs }) => sum + (costs[0] ?? 0), 0);
  return Number.isFinite(total) ? choose(eliminations, domains) : 'impossible';
}

/** A rule is tabulated by evaluating it for each assignment. */
const MAX_EVALUATIONS = 2 ** 21;

/** The costs of a rule; a variable that no other rule has, the one with the most values, is eliminated while it is tabulated. */
function foldRule(
  { scope, holds }: ExactProblem['rules'][number],
  { domains, costAt, rules }: ExactProblem,
): { table: CostTable; elimination?: Elimination } {
  const sizeOf = (variable: number): number => countAssignments([variable], domains);
  const own = scope
    .filter(variable => rules.filter(rule => rule.scope.includes(variable)).length === 1)
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  const [variable] = own;
  if (variable === undefined || scope.length === 1) {
    return { table: tabulate(scope, domains, values => (holds(values) ? 0 : Number.POSITIVE_INFINITY)) };
  }
  const [at, rest] = [scope.indexOf(variable), scope.filter(one => one !== variable)];
  const candidates = getDefined(domains.get(variable), 'domain');
  const costs = candidates.map(value => costAt(variable, value));
  const best: number[] = [];
  const all = scope.map(() => 0);
  const table = tabulate(rest, domains, values => {
    for (const [i, value] of values.entries()) all[i < at ? i : i + 1] = value;
    let [least, chosen] = [Number.POSITIVE_INFINITY, 0];
    for (let i = 0; i < candidates.length; i++) {
      const cost = costs[i] as number;
      if (cost >= least) continue;
      all[at] = candidates[i] as number;
      if (holds(all)) [least, chosen] = [cost, i];
    }
    best.push(chosen);
    return least;
  });
  return { table, elimination: { variable, scope: rest, best: Uint8Array.from(best) } };
}

function neighborsOf(variable: number, tables: readonly CostTable[]): readonly number[] {
  return [...new Set(tables.flatMap(({ scope }) => scope))].filter(one => one !== variable);
}

/** The one whose elimination makes the smallest table; of equal ones the first. */
function pickVariable(left: ReadonlySet<number>, tables: readonly CostTable[], domains: Domains): number {
  let best: { readonly variable: number; readonly size: number } | undefined;
  for (const variable of left) {
    const own = tables.filter(({ scope }) => scope.includes(variable));
    const size = countAssignments(neighborsOf(variable, own), domains);
    if (best === undefined || size < best.size) best = { variable, size };
  }
  return getDefined(best, 'variable').variable;
}

/** Backwards: when a variable is chosen, all in the scope of its elimination are known. */
function choose(eliminations: readonly Elimination[], domains: Domains): ReadonlyMap<number, number> {
  const indices = new Map<number, number>();
  for (const { variable, scope, best } of [...eliminations].reverse()) {
    const strides = stridesOf(scope, domains);
    const at = scope.reduce((sum, one) => sum + getDefined(indices.get(one), 'index') * getDefined(strides.get(one), 'stride'), 0);
    indices.set(variable, getDefined(best[at], 'index'));
  }
  return new Map([...indices].map(([variable, index]) => [variable, getDefined(domains.get(variable)?.[index], 'value')]));
}
