/** Finds the boxes and edges of a laid-out graph that lie in an area. */
import type { GraphEdge, Point } from '../../../report/graph-edges.js';
import type { GraphPlaces } from '../parts/graph/graph-types.js';
import type { CollapsedGraph, ModelBox } from './collapse.js';
import type { Area } from './graph-tiles.js';

export interface PlacedBox {
  readonly box: ModelBox;
  readonly place: Point;
}

export interface RoutedEdge {
  readonly edge: GraphEdge;
  readonly route: readonly Point[];
}

export interface GraphIndex {
  /** Boxes with their center in the area: of adjacent areas exactly one has a box. Edges whose line may come into it. */
  find(area: Area): { readonly boxes: readonly PlacedBox[]; readonly edges: readonly RoutedEdge[] };
}

/** How far the end of an arrow reaches beyond its line. */
const ARROW = 8;

/** @param layout undefined: nothing is placed yet. */
export function indexGraph(graph: CollapsedGraph, layout: GraphPlaces | undefined): GraphIndex {
  const boxes = graph.boxes.flatMap((box): readonly PlacedBox[] => {
    const place = layout?.places[box.id];
    return place === undefined ? [] : [{ box, place }];
  });
  const edges = graph.edges.flatMap((edge, index): readonly (RoutedEdge & { readonly bounds: Area })[] => {
    const route = layout?.routes[index] ?? [];
    return route.length === 0 ? [] : [{ edge, route, bounds: boundsOf(route) }];
  });
  return {
    find(area) {
      const wide = { left: area.left - ARROW, top: area.top - ARROW, right: area.right + ARROW, bottom: area.bottom + ARROW };
      return {
        boxes: boxes.filter(({ place: { x, y } }) => x >= area.left && x < area.right && y >= area.top && y < area.bottom),
        edges: edges.filter(({ route, bounds }) => touches(bounds, wide) && mayCross(route, wide)),
      };
    },
  };
}

/** Exact for a straight line; for what `drawPath` draws along more points, true where the bounds of a curve touch the area. */
export function mayCross(route: readonly Point[], area: Area): boolean {
  const [first, second] = route;
  if (route.length === 2 && first !== undefined && second !== undefined) return crosses(first, second, area);
  for (let at = 0; at < Math.max(1, route.length - 2); at++) if (touches(boundsOf(route.slice(at, at + 3)), area)) return true;
  return false;
}

function boundsOf(points: readonly Point[]): Area {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    bounds.left = Math.min(bounds.left, x);
    bounds.right = Math.max(bounds.right, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.bottom = Math.max(bounds.bottom, y);
  }
  return bounds;
}

function touches(one: Area, other: Area): boolean {
  return one.left <= other.right && one.right >= other.left && one.top <= other.bottom && one.bottom >= other.top;
}

/** A segment and a rectangle are apart if an axis, or the normal of the segment, separates them. */
function crosses(from: Point, to: Point, area: Area): boolean {
  if (!touches(boundsOf([from, to]), area)) return false;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const sideOf = (x: number, y: number): number => dx * (y - from.y) - dy * (x - from.x);
  const { left, top, right, bottom } = area;
  const sides = [sideOf(left, top), sideOf(right, top), sideOf(left, bottom), sideOf(right, bottom)];
  return !(sides.every(side => side > 0) || sides.every(side => side < 0));
}
