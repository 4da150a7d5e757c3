/** Tables of costs over the values of a few variables, and their sums and minima: the steps of variable elimination. */
import { getDefined } from '../../../base/invariant.js';

/** The values that each variable may take, by variable. */
export type Domains = ReadonlyMap<number, readonly number[]>;

export interface CostTable {
  /** Sorted. */
  readonly scope: readonly number[];
  /** One cost per assignment of indices into the domains; the last variable varies fastest. */
  readonly costs: Float64Array;
}

/** More assignments than this are not tabulated. */
export const MAX_ASSIGNMENTS = 2 ** 20;

export function countAssignments(scope: readonly number[], domains: Domains): number {
  return scope.reduce((count, variable) => count * sizeOf(domains, variable), 1);
}

function sizeOf(domains: Domains, variable: number): number {
  return getDefined(domains.get(variable), 'domain').length;
}

/** @param costOf the cost of the values of `scope`, in its order. */
export function tabulate(scope: readonly number[], domains: Domains, costOf: (values: readonly number[]) => number): CostTable {
  const costs = new Float64Array(countAssignments(scope, domains));
  const lists = scope.map(variable => getDefined(domains.get(variable), 'domain'));
  const indices = scope.map(() => 0);
  const values = lists.map(list => list[0] ?? 0);
  for (let at = 0; at < costs.length; at++) {
    costs[at] = costOf(values);
    for (let i = scope.length - 1; i >= 0; i--) {
      const list = lists[i] as readonly number[];
      const next = ((indices[i] as number) + 1) % list.length;
      indices[i] = next;
      values[i] = list[next] as number;
      if (next !== 0) break;
    }
  }
  return { scope, costs };
}

/** The least sum of `tables` over the values of `variable`, per assignment of the other variables; and the index of that value, the first of equal ones. */
export function eliminate(tables: readonly CostTable[], variable: number, domains: Domains): { table: CostTable; best: Uint8Array } {
  const scope = [...new Set(tables.flatMap(table => table.scope))].filter(one => one !== variable).sort((a, b) => a - b);
  const size = sizeOf(domains, variable);
  const strides = tables.map(table => stridesOf(table.scope, domains));
  const steps = strides.map(of => of.get(variable) ?? 0);
  const outer = scope.map(one => strides.map(of => of.get(one) ?? 0));
  const costs = new Float64Array(countAssignments(scope, domains));
  const best = new Uint8Array(costs.length);
  const sizes = scope.map(one => sizeOf(domains, one));
  const indices = scope.map(() => 0);
  const offsets = tables.map(() => 0);
  for (let at = 0; at < costs.length; at++) {
    let least = Number.POSITIVE_INFINITY;
    for (let value = 0; value < size; value++) {
      let cost = 0;
      for (let t = 0; t < tables.length; t++)
        cost += (tables[t] as CostTable).costs[(offsets[t] as number) + value * (steps[t] as number)] as number;
      if (cost < least) {
        least = cost;
        best[at] = value;
      }
    }
    costs[at] = least;
    for (let i = scope.length - 1; i >= 0; i--) {
      const next = ((indices[i] as number) + 1) % (sizes[i] as number);
      const step = next - (indices[i] as number);
      indices[i] = next;
      for (let t = 0; t < tables.length; t++) offsets[t] = (offsets[t] as number) + step * ((outer[i] as number[])[t] as number);
      if (next !== 0) break;
    }
  }
  return { table: { scope, costs }, best };
}

/** How far one step of each variable's index moves in a table. */
export function stridesOf(scope: readonly number[], domains: Domains): ReadonlyMap<number, number> {
  const strides = new Map<number, number>();
  let stride = 1;
  for (const variable of [...scope].reverse()) {
    strides.set(variable, stride);
    stride *= sizeOf(domains, variable);
  }
  return strides;
}
