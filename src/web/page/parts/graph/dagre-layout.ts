/** The layout of small graphs by dagre. */
import dagre from '@dagrejs/dagre';
import type { Point } from '../../../../report/graph-edges.js';
import type { GraphOrder, GraphPlaces } from './graph-types.js';

/** Network simplex gives shorter edges, and takes too long for large graphs. */
const MOST_EXACT = 150;

/** dagre writes places and routes into the labels. */
interface NodeLabel extends Partial<Point> {
  readonly width: number;
  readonly height: number;
}

interface EdgeLabel {
  readonly points?: readonly Point[];
}

/** Edges leave and reach boxes in the middle of a side: elsewhere a line would run under other boxes of the same rank. */
export function layOutWithDagre({ nodes, edges, direction, gaps }: GraphOrder): GraphPlaces {
  const graph = new dagre.graphlib.Graph<object, NodeLabel, EdgeLabel>();
  const ranker = nodes.length <= MOST_EXACT ? 'network-simplex' : 'tight-tree';
  const rankdir = direction === 'down' ? 'TB' : 'LR';
  graph.setGraph({ rankdir, ranksep: gaps.rank, nodesep: gaps.node, marginx: 4, marginy: 4, ranker } as never);
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const { from, to } of edges) graph.setEdge(from, to);
  dagre.layout(graph as never);
  const places = nodes.map(({ id }): [string, Point] => {
    const { x = 0, y = 0 } = graph.node(id);
    return [id, { x, y }];
  });
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number };
  const routes = edges.map(({ from, to }) => {
    const { points = [] }: EdgeLabel = graph.edge(from, to);
    return attach(points, graph.node(from), graph.node(to), direction);
  });
  return { places: Object.fromEntries(places), routes, width: Math.ceil(width), height: Math.ceil(height) };
}

/** An edge of a cycle that leads back keeps the sides that dagre chose. */
function attach(points: readonly Point[], from: NodeLabel, to: NodeLabel, direction: GraphOrder['direction']): readonly Point[] {
  const [a, b] = [sideOf(from, direction, 1), sideOf(to, direction, -1)];
  const leadsBack = direction === 'down' ? a.y > b.y : a.x > b.x;
  if (leadsBack) return points;
  const [middle, ...others] = points.slice(1, -1);
  // Between neighboring ranks the line turns in the gap, where there are no boxes.
  if (middle === undefined || others.length > 0) return [a, ...points.slice(1, -1), b];
  return direction === 'down'
    ? [a, { x: a.x, y: middle.y }, { x: b.x, y: middle.y }, b]
    : [a, { x: middle.x, y: a.y }, { x: middle.x, y: b.y }, b];
}

function sideOf({ x = 0, y = 0, width, height }: NodeLabel, direction: GraphOrder['direction'], sign: 1 | -1): Point {
  return direction === 'down' ? { x, y: y + (sign * height) / 2 } : { x: x + (sign * width) / 2, y };
}
