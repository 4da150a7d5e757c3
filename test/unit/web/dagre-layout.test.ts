/** The layout of small graphs: where edges meet boxes, and that they do not run under other boxes. */
import type { GraphEdge, Point } from '../../../src/report/graph-edges.js';
import { layOutWithDagre } from '../../../src/web/page/parts/graph/dagre-layout.js';

const [WIDTH, HEIGHT] = [166, 64];

const layOut = (links: Readonly<Record<string, readonly string[]>>, direction: 'down' | 'right') => {
  const edges = Object.entries(links).flatMap(([from, next]) => next.map((to): GraphEdge => ({ from, to })));
  const ids = [...new Set([...Object.keys(links), ...Object.values(links).flat()])];
  const nodes = ids.map(id => ({ id, width: WIDTH, height: HEIGHT }));
  return { edges, ...layOutWithDagre({ nodes, edges, direction, gaps: { rank: 30, node: 12 } }) };
};

/** Points of a polyline, at least one per pixel. */
function pointsOn(route: readonly Point[]): readonly Point[] {
  return route.slice(1).flatMap((to, index) => {
    const from = route[index] ?? to;
    const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y));
    return Array.from({ length: steps + 1 }, (_, step) => ({
      x: from.x + ((to.x - from.x) * step) / Math.max(1, steps),
      y: from.y + ((to.y - from.y) * step) / Math.max(1, steps),
    }));
  });
}

/** A pipeline whose last stages stand in two columns, and are linked across rows. */
const PIPELINE = {
  import: ['simplify'],
  simplify: ['capture', 'classes-float', 'calibrate'],
  calibrate: ['quantize'],
  capture: ['sensitivity'],
  'classes-float': ['classes-int8'],
  quantize: ['sensitivity', 'classes-int8', 'compile'],
};

it.each(['right', 'down'] as const)('to the %s, no edge runs under a box, so that it never seems to come from another one', direction => {
  const { edges, places, routes } = layOut(PIPELINE, direction);
  const hidden = edges.filter((_, index) =>
    pointsOn(routes[index] ?? []).some(({ x, y }) =>
      Object.values(places).some(box => Math.abs(x - box.x) < WIDTH / 2 - 1 && Math.abs(y - box.y) < HEIGHT / 2 - 1),
    ),
  );
  expect(hidden).toEqual([]);
});

it('edges leave and reach boxes in the middle of a side', () => {
  const { edges, places, routes } = layOut(PIPELINE, 'right');
  for (const [index, { from, to }] of edges.entries()) {
    const [start, end] = [places[from] ?? { x: 0, y: 0 }, places[to] ?? { x: 0, y: 0 }];
    expect([routes[index]?.[0], routes[index]?.at(-1)]).toEqual([
      { x: start.x + WIDTH / 2, y: start.y },
      { x: end.x - WIDTH / 2, y: end.y },
    ]);
  }
});

it('an edge that closes a cycle has a route too', () => {
  const { routes } = layOut({ a: ['b'], b: ['c'], c: ['a'] }, 'down');
  for (const route of routes) expect(route.length).toBeGreaterThan(1);
});
