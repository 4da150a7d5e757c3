/** The layered layout of large graphs: no overlaps, edges lead forward, linear time, cycles end. */
import fc from 'fast-check';
import type { GraphEdge } from '../../../src/report/graph-edges.js';

import { layOutLayers } from '../../../src/web/page/parts/graph/layer-layout.js';

const order = (count: number, edges: readonly GraphEdge[], direction: 'down' | 'right' = 'down') => ({
  nodes: Array.from({ length: count }, (_, index) => ({ id: `n${index}`, width: 100 + (index % 3) * 20, height: 40 })),
  edges,
  direction,
  gaps: { rank: 28, node: 16 },
});

const edge = (from: number, to: number): GraphEdge => ({ from: `n${from}`, to: `n${to}` });

describe('the layered layout', () => {
  it('of any acyclic graph has no overlapping boxes, lies within its bounds, and leads all edges forward', () => {
    const pairs = fc.array(fc.tuple(fc.nat(29), fc.nat(29)), { maxLength: 80 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), pairs, fc.constantFrom('down' as const, 'right' as const), (count, drawn, direction) => {
        const edges = drawn.filter(([a, b]) => a < b && b < count).map(([a, b]) => edge(a, b));
        const graph = order(count, edges, direction);
        const { places, width, height, routes } = layOutLayers(graph);
        const boxes = graph.nodes.map(({ id, width: w, height: h }) => ({ ...(places[id] ?? { x: Number.NaN, y: Number.NaN }), w, h }));
        for (const { x, y, w, h } of boxes)
          expect(x - w / 2 >= 0 && y - h / 2 >= 0 && x + w / 2 <= width && y + h / 2 <= height).toBe(true);
        for (const [index, a] of boxes.entries())
          for (const b of boxes.slice(index + 1))
            expect(Math.abs(a.x - b.x) >= (a.w + b.w) / 2 || Math.abs(a.y - b.y) >= (a.h + b.h) / 2).toBe(true);
        const along = direction === 'down' ? 'y' : 'x';
        for (const [start, end] of routes) expect((start?.[along] ?? 0) < (end?.[along] ?? 0)).toBe(true);
      }),
    );
  });

  it('ends where scopes form a cycle, with a place for every node', () => {
    const { places } = layOutLayers(order(3, [edge(0, 1), edge(1, 2), edge(2, 0)]));
    expect(Object.values(places).every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
  });

  it('lays out a chain of 20,000 nodes without recursion', () => {
    const edges = Array.from({ length: 19_999 }, (_, index) => edge(index, index + 1));
    expect(layOutLayers(order(20_000, edges)).height).toBe(4 + 20_000 * 40 + 19_999 * 28 + 4);
  });
});
