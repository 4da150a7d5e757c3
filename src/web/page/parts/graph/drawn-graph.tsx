/** The drawing of a graph that was laid out: its edges with arrows under its boxes. */
import type { ComponentChildren, Ref } from 'preact';
import { drawPath, type GraphEdge } from '../../../../report/graph-edges.js';
import { Scroll } from '../scroll.js';
import type { GraphPlaces } from './graph-types.js';

interface DrawnGraphProps {
  /** "Graph of stages". */
  readonly label: string;
  /** "Graph of 12 stages". */
  readonly summary: string;
  /** Of the element that scrolls. */
  readonly class?: string;
  readonly layout: GraphPlaces;
  /** Those of the order that was laid out. */
  readonly edges: readonly GraphEdge[];
  /** The node that was picked: its edges are marked. */
  readonly picked: string | undefined;
  /** Edges between these nodes are marked too. */
  readonly critical?: ReadonlySet<string>;
  readonly svgRef?: Ref<SVGSVGElement>;
  /** The boxes. */
  readonly children: ComponentChildren;
}

const NONE: ReadonlySet<string> = new Set();

export function DrawnGraph(props: DrawnGraphProps) {
  const { label, summary, class: look = 'graph', layout, edges, picked, critical = NONE, svgRef, children } = props;
  const { width, height, routes } = layout;
  return (
    <Scroll class={look} label={label}>
      <svg ref={svgRef ?? null} width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={summary}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0.5L8 4L0 7.5Z" />
          </marker>
        </defs>
        {edges.map(({ from, to }, index) => (
          <path
            key={`${from} ${to}`}
            class={`edge${critical.has(from) && critical.has(to) ? ' critical' : ''}${picked === from || picked === to ? ' near' : ''}`}
            d={drawPath(routes[index] ?? [])}
            marker-end="url(#arrow)"
          />
        ))}
        {children}
      </svg>
    </Scroll>
  );
}
