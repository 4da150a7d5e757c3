/** Transitive reduction: removes the edges that a longer path implies. The graph must be acyclic. */
import type { GraphEdge } from '../parts/graph/graph-types.js';

export function withoutImplied(edges: readonly GraphEdge[]): readonly GraphEdge[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reached = new Map<string, ReadonlySet<string>>();
  const reach = (id: string): ReadonlySet<string> => {
    const known = reached.get(id);
    if (known !== undefined) return known;
    const all = new Set<string>();
    for (const one of next.get(id) ?? []) for (const other of [one, ...reach(one)]) all.add(other);
    reached.set(id, all);
    return all;
  };
  return edges.filter(({ from, to }) => ![...(next.get(from) ?? [])].some(other => other !== to && reach(other).has(to)));
}
