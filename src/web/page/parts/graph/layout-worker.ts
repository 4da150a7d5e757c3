/** Lays out graphs in a worker, so that the page stays responsive. Ending the worker cancels its layout. */
import dagre from '@dagrejs/dagre';
import type { Point } from '../../../../report/graph-edges.js';
import type { GraphOrder, GraphPlaces } from './graph-types.js';
import { layOutLayers } from './layer-layout.js';

/** Network simplex gives shorter edges, and takes too long for large graphs. */
const MOST_EXACT = 150;

/** Larger graphs take dagre minutes, and long chains exceed its recursion. */
const MOST_DAGRE = 400;

addEventListener('message', (event: MessageEvent<GraphOrder>) => {
  const { nodes } = event.data;
  postMessage(nodes.length > MOST_DAGRE ? layOutLayers(event.data) : layOut(event.data));
});

/** dagre writes places and routes into the labels. */
interface NodeLabel extends Partial<Point> {
  readonly width: number;
  readonly height: number;
}

function layOut({ nodes, edges, direction, gaps }: GraphOrder): GraphPlaces {
  const graph = new dagre.graphlib.Graph<object, NodeLabel, { readonly points?: readonly Point[] }>();
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
  const routes = edges.map(({ from, to }) => (graph.edge(from, to)?.points ?? []).map(({ x, y }) => ({ x, y })));
  return { places: Object.fromEntries(places), routes, width: Math.ceil(width), height: Math.ceil(height) };
}
