/** Graphs as SVG with boxes and arrows, in a layered layout by dagre. */
import { getDefined } from '../base/invariant.js';
import { drawPath, type GraphEdge, type Point, roundToTenth } from './graph-edges.js';
import { type Html, html } from './html.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface GraphNode {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** CSS class for the kind of node. It is never the only indication. */
  readonly look: string;
}

export interface Graph {
  /** Unique on the page. */
  readonly id: string;
  readonly description: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly direction: 'down' | 'right';
}

const LINE = 16;
const PADDING = { x: 12, y: 8 };
const [TITLE_WIDTH, LINE_WIDTH, LONGEST] = [7.1, 6.1, 34];

/** Draws the graph at its natural size, in a container that scrolls where it is too wide. */
export async function drawGraph(graph: Graph): Promise<Html> {
  const { width, height, boxes, arrows } = await layOut(graph);
  const arrow = `${graph.id}-arrow`;
  return html`<div class="scroll graph" tabindex="0" role="img" aria-label="${graph.description}">
<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true">
<defs><marker id="${arrow}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0.5L8 4L0 7.5Z"/></marker></defs>
${arrows.map(path => html`<path class="edge" d="${path}" marker-end="url(#${arrow})"/>\n`)}${boxes}</svg></div>
`;
}

async function layOut({ nodes, edges, direction }: Graph) {
  const { default: dagre } = await import('@dagrejs/dagre');
  // dagre writes sizes and positions into the labels.
  const graph = new dagre.graphlib.Graph<Partial<Size>, Size & Partial<Point>, { readonly points?: readonly Point[] }>();
  const rank = direction === 'down' ? { rankdir: 'TB', ranksep: 34, nodesep: 18 } : { rankdir: 'LR', ranksep: 38, nodesep: 14 };
  graph.setGraph({ ...rank, marginx: 2, marginy: 2 } as never);
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, measure(node));
  for (const { from, to } of edges) graph.setEdge(from, to);
  dagre.layout(graph as never);
  const placed = (id: string) => {
    const { x, y, ...size } = graph.node(id);
    return { ...size, x: getDefined(x, 'the place of a node'), y: getDefined(y, 'the place of a node') };
  };
  const routed = (from: string, to: string) => getDefined(graph.edge(from, to)?.points, 'the route of an edge');
  const { width = 0, height = 0 } = graph.graph();
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    boxes: nodes.map(node => drawBox(node, placed(node.id))),
    arrows: edges.map(({ from, to }) => drawPath(routed(from, to))),
  };
}

function measure({ title, lines }: GraphNode): { width: number; height: number } {
  const widest = Math.max(shorten(title).length * TITLE_WIDTH, ...lines.map(line => shorten(line).length * LINE_WIDTH));
  return { width: Math.ceil(Math.max(72, widest + 2 * PADDING.x)), height: LINE * (1 + lines.length) + 2 * PADDING.y };
}

function drawBox({ title, lines, look }: GraphNode, place: Point & { readonly width: number; readonly height: number }): Html {
  const left = roundToTenth(place.x - place.width / 2);
  const top = roundToTenth(place.y - place.height / 2);
  const x = roundToTenth(left + PADDING.x);
  const y = (line: number): number => roundToTenth(top + PADDING.y + LINE * line + 12);
  return html`<g class="box ${look}"><title>${title}: ${lines.join('; ')}</title><rect x="${left}" y="${top}" width="${place.width}" height="${place.height}" rx="5"/><rect class="strip" x="${left}" y="${top}" width="4" height="${place.height}" rx="2"/><text class="title" x="${x}" y="${y(0)}">${shorten(title)}</text>${lines.map((line, index) => html`<text x="${x}" y="${y(index + 1)}">${shorten(line)}</text>`)}</g>
`;
}

function shorten(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
