/** Edges of graphs: which are drawn, and as which line. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

/** A smooth line through the points: quadratic curves between midpoints. */
export function drawPath(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return '';
  const last = others.at(-1) ?? first;
  let path = `M${at(first)}`;
  for (const [index, point] of others.slice(0, -1).entries()) {
    const next = others[index + 1] ?? last;
    const end = index === others.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    path += `Q${at(point)} ${at(end)}`;
  }
  return others.length === 1 ? `${path}L${at(last)}` : path;
}

function at({ x, y }: Point): string {
  return `${roundToTenth(x)} ${roundToTenth(y)}`;
}

export function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Transitive reduction: removes edges that a longer path implies. The graph must be acyclic. */
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
