/** Graphs to lay out, and their places. */
import type { GraphEdge, Point } from '../../../../report/graph-edges.js';

export interface SizedNode {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

export interface GraphOrder {
  readonly nodes: readonly SizedNode[];
  readonly edges: readonly GraphEdge[];
  readonly direction: 'down' | 'right';
  readonly gaps: { readonly rank: number; readonly node: number };
}

/** Centers of nodes, and the points of each edge in the order of the edges. */
export interface GraphPlaces {
  readonly places: Readonly<Record<string, Point>>;
  readonly routes: readonly (readonly Point[])[];
  readonly width: number;
  readonly height: number;
}
