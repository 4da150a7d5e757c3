/** The tiles of a model's graph: they cover the viewport, and together draw each box once and every edge wherever it runs. */
import fc from 'fast-check';
import { indexGraph, mayCross } from '../../../src/web/page/model/graph-index.js';
import { areaOf, rangeInSight, tileSideAt, tilesOf } from '../../../src/web/page/model/graph-tiles.js';

const point = fc.record({ x: fc.integer({ min: -3000, max: 3000 }), y: fc.integer({ min: -3000, max: 3000 }) });

describe('tiles of a graph', () => {
  it('cover every point of the viewport, whatever its place and scale', () => {
    const place = fc.record({ x: fc.double({ min: -1e5, max: 1e5, noNaN: true }), y: fc.double({ min: -1e5, max: 1e5, noNaN: true }) });
    fc.assert(
      fc.property(
        place,
        fc.double({ min: 0.05, max: 3, noNaN: true }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        ({ x, y }, scale, across, down) => {
          const side = tileSideAt(scale);
          const tiles = tilesOf(rangeInSight({ x, y, scale }, { width: 900, height: 600 }, side), 0);
          const [atX, atY] = [(across * 900 - x) / scale, (down * 600 - y) / scale];
          const holds = tiles.filter(tile => {
            const { left, right, top, bottom } = areaOf(tile, side);
            return atX >= left && atX < right && atY >= top && atY < bottom;
          });
          expect(holds).toHaveLength(1);
          // On the screen, a tile is between one and two times its smallest size.
          expect(side * scale).toBeGreaterThanOrEqual(255.9);
          expect(side * scale).toBeLessThan(512.1);
        },
      ),
    );
  });

  it('have a straight edge exactly where its line runs: as often as points sampled along it say', () => {
    fc.assert(
      fc.property(point, point, point, fc.integer({ min: 1, max: 900 }), (from, to, corner, side) => {
        const area = { left: corner.x, top: corner.y, right: corner.x + side, bottom: corner.y + side };
        const inside = Array.from({ length: 2001 }, (_, step) => step / 2000).some(share => {
          const [x, y] = [from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)];
          return x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
        });
        if (inside) expect(mayCross([from, to], area)).toBe(true);
        // Samples are at most 4.3 apart, so a line that stays farther away is found by none of them.
        const wide = { left: area.left - 5, top: area.top - 5, right: area.right + 5, bottom: area.bottom + 5 };
        const near = Array.from({ length: 2001 }, (_, step) => step / 2000).some(share => {
          const [x, y] = [from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)];
          return x >= wide.left && x <= wide.right && y >= wide.top && y <= wide.bottom;
        });
        if (!near) expect(mayCross([from, to], area)).toBe(false);
      }),
    );
  });

  it('have every point of a curved edge, as it is drawn by quadratic curves', () => {
    fc.assert(
      fc.property(fc.array(point, { minLength: 3, maxLength: 6 }), fc.double({ min: 0, max: 1, noNaN: true }), (route, share) => {
        for (const { x, y } of pointsOfCurves(route, share))
          expect(mayCross(route, { left: x - 1, top: y - 1, right: x + 1, bottom: y + 1 })).toBe(true);
      }),
    );
  });

  it('draw a box once, though it lies on the side between two of them', () => {
    const box = { id: 'n a', kind: 'node', title: 'Relu', nodes: [], hidden: 0 } as const;
    const layout = { places: { 'n a': { x: 256, y: 100 } }, routes: [], width: 512, height: 256 };
    const index = indexGraph({ boxes: [box], edges: [] }, layout);
    const counts = [0, 1].map(column => index.find(areaOf({ key: '', column, row: 0 }, 256)).boxes.length);
    expect(counts).toEqual([0, 1]);
  });
});

/** One point of each curve of `drawPath`: quadratic curves between midpoints, with the points as controls. */
function pointsOfCurves(route: readonly { readonly x: number; readonly y: number }[], share: number) {
  const middle = (a: number, b: number): number => (route[a]?.x === undefined ? 0 : ((route[a]?.x ?? 0) + (route[b]?.x ?? 0)) / 2);
  const middleY = (a: number, b: number): number => ((route[a]?.y ?? 0) + (route[b]?.y ?? 0)) / 2;
  const last = route.length - 1;
  return route.slice(1, -1).map((control, index) => {
    const at = index + 1;
    const start = at === 1 ? { x: route[0]?.x ?? 0, y: route[0]?.y ?? 0 } : { x: middle(at - 1, at), y: middleY(at - 1, at) };
    const end = at === last - 1 ? { x: route[last]?.x ?? 0, y: route[last]?.y ?? 0 } : { x: middle(at, at + 1), y: middleY(at, at + 1) };
    const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
    return { x: a * start.x + b * control.x + c * end.x, y: a * start.y + b * control.y + c * end.y };
  });
}
