/** A layered layout in linear time, for graphs that are too large or too deep for dagre: ranks by longest path, order by the places of predecessors. */
import type { GraphEdge, Point } from '../../../../report/graph-edges.js';
import type { GraphOrder, GraphPlaces, SizedNode } from './graph-types.js';

const MARGIN = 4;

/** Edges are straight lines. Nodes on a cycle, which collapsed scopes may form, keep their order. */
export function layOutLayers({ nodes, edges, direction, gaps }: GraphOrder): GraphPlaces {
  const into = group(edges, ({ to }) => to);
  const ranks = rankNodes(nodes, edges);
  const layers: SizedNode[][] = [];
  for (const node of nodes) {
    const rank = ranks.get(node.id) ?? 0;
    const layer = layers[rank];
    if (layer === undefined) layers[rank] = [node];
    else layer.push(node);
  }
  const isDown = direction === 'down';
  const length = (node: SizedNode): number => (isDown ? node.width : node.height);
  const depth = (node: SizedNode): number => (isDown ? node.height : node.width);
  // Places along and across the layers.
  const along = new Map<string, number>();
  const across = new Map<string, number>();
  let offset = MARGIN;
  for (const layer of layers) {
    if (layer === undefined) continue;
    const wanted = new Map(layer.map(node => [node.id, mean((into.get(node.id) ?? []).flatMap(({ from }) => along.get(from) ?? []))]));
    layer.sort((a, b) => (wanted.get(a.id) ?? 0) - (wanted.get(b.id) ?? 0));
    const deepest = Math.max(...layer.map(depth));
    let free = Number.NEGATIVE_INFINITY;
    for (const node of layer) {
      const center = Math.max(wanted.get(node.id) ?? 0, free + length(node) / 2);
      along.set(node.id, center);
      across.set(node.id, offset + deepest / 2);
      free = center + length(node) / 2 + gaps.node;
    }
    offset += deepest + gaps.rank;
  }
  const least = Math.min(0, ...nodes.map(node => (along.get(node.id) ?? 0) - length(node) / 2)) - MARGIN;
  const most = Math.max(0, ...nodes.map(node => (along.get(node.id) ?? 0) + length(node) / 2)) - least + MARGIN;
  const place = (id: string): Point => {
    const [a, b] = [(along.get(id) ?? 0) - least, across.get(id) ?? 0];
    return isDown ? { x: a, y: b } : { x: b, y: a };
  };
  const sizes = new Map(nodes.map(node => [node.id, node]));
  const routes = edges.map(({ from, to }) => route(place(from), place(to), sizes.get(from), sizes.get(to), isDown));
  const total = offset - gaps.rank + MARGIN;
  return {
    places: Object.fromEntries(nodes.map(({ id }) => [id, place(id)])),
    routes,
    width: Math.ceil(isDown ? most : total),
    height: Math.ceil(isDown ? total : most),
  };
}

function rankNodes(nodes: readonly SizedNode[], edges: readonly GraphEdge[]): ReadonlyMap<string, number> {
  const out = group(edges, ({ from }) => from);
  const waiting = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { to } of edges) waiting.set(to, (waiting.get(to) ?? 0) + 1);
  const ranks = new Map<string, number>();
  const queue = nodes.map(({ id }) => id).filter(id => waiting.get(id) === 0);
  const queued = new Set(queue);
  const rest = nodes.map(({ id }) => id);
  for (let next = 0, at = 0; ; ) {
    if (next >= queue.length) {
      // Of a cycle the first node begins.
      while (at < rest.length && queued.has(rest[at] ?? '')) at++;
      const id = rest[at];
      if (id === undefined) return ranks;
      queue.push(id);
      queued.add(id);
    }
    const id = queue[next++] ?? '';
    const rank = ranks.get(id) ?? 0;
    ranks.set(id, rank);
    for (const { to } of out.get(id) ?? []) {
      const left = (waiting.get(to) ?? 0) - 1;
      waiting.set(to, left);
      if (queued.has(to)) continue;
      ranks.set(to, Math.max(ranks.get(to) ?? 0, rank + 1));
      if (left > 0) continue;
      queue.push(to);
      queued.add(to);
    }
  }
}

function group(edges: readonly GraphEdge[], keyOf: (edge: GraphEdge) => string): ReadonlyMap<string, readonly GraphEdge[]> {
  const groups = new Map<string, GraphEdge[]>();
  for (const edge of edges) {
    const key = keyOf(edge);
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [edge]);
    else own.push(edge);
  }
  return groups;
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

function route(from: Point, to: Point, start: SizedNode | undefined, end: SizedNode | undefined, isDown: boolean): readonly Point[] {
  const [a, b] = isDown ? [(start?.height ?? 0) / 2, (end?.height ?? 0) / 2] : [(start?.width ?? 0) / 2, (end?.width ?? 0) / 2];
  return isDown
    ? [
        { x: from.x, y: from.y + a },
        { x: to.x, y: to.y - b },
      ]
    : [
        { x: from.x + a, y: from.y },
        { x: to.x - b, y: to.y },
      ];
}
