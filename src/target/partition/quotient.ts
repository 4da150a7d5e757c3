/** Quotient graphs of a partition: groups of units as nodes, with their dependencies and execution order. */

/** A graph of items identified by position. Lists are sorted and without duplicates. */
export interface Adjacency {
  readonly before: readonly (readonly number[])[];
  readonly after: readonly (readonly number[])[];
}

/** @param groupOf the group of each unit, from 0. */
export function contract(units: Adjacency, groupOf: readonly number[]): Adjacency {
  const count = groupOf.reduce((most, group) => Math.max(most, group + 1), 0);
  const before = Array.from({ length: count }, () => new Set<number>());
  const after = Array.from({ length: count }, () => new Set<number>());
  for (const [unit, readers] of units.after.entries()) {
    const from = groupOf[unit] ?? 0;
    for (const reader of readers) {
      const to = groupOf[reader] ?? 0;
      if (from === to) continue;
      after[from]?.add(to);
      before[to]?.add(from);
    }
  }
  const sorted = (sets: readonly Set<number>[]): readonly (readonly number[])[] => sets.map(set => [...set].sort((a, b) => a - b));
  return { before: sorted(before), after: sorted(after) };
}

/** A topological order, the smallest position first among candidates; undefined if there is a cycle. */
export function sortQuotient({ before, after }: Adjacency): readonly number[] | undefined {
  const waiting = before.map(list => list.length);
  const ready = waiting.flatMap((count, group) => (count === 0 ? [group] : []));
  const order: number[] = [];
  while (ready.length > 0) {
    const least = ready.indexOf(Math.min(...ready));
    const [next] = ready.splice(least, 1);
    if (next === undefined) break;
    order.push(next);
    for (const reader of after[next] ?? []) {
      waiting[reader] = (waiting[reader] ?? 0) - 1;
      if (waiting[reader] === 0) ready.push(reader);
    }
  }
  return order.length === before.length ? order : undefined;
}

/** Renumbers groups without gaps, in the order of their first units. */
export function renumber(groupOf: readonly number[]): readonly number[] {
  const numbers = new Map<number, number>();
  return groupOf.map(group => {
    const known = numbers.get(group) ?? numbers.size;
    numbers.set(group, known);
    return known;
  });
}

/** For each position, the positions from which it can be reached, including itself, as bit sets. `graph` is acyclic. */
export function findReach(graph: Adjacency, order: readonly number[]): readonly Uint32Array[] {
  const words = Math.ceil(graph.before.length / 32);
  const reach = graph.before.map(() => new Uint32Array(words));
  for (const node of order.toReversed()) {
    const own = reach[node];
    if (own === undefined) continue;
    own[node >> 5] = (own[node >> 5] ?? 0) | (1 << (node & 31));
    for (const reader of graph.after[node] ?? []) {
      const theirs = reach[reader];
      if (theirs !== undefined) for (let word = 0; word < words; word++) own[word] = (own[word] ?? 0) | (theirs[word] ?? 0);
    }
  }
  return reach;
}

export function hasBit(set: Uint32Array | undefined, position: number): boolean {
  return (((set?.[position >> 5] ?? 0) >>> (position & 31)) & 1) === 1;
}
