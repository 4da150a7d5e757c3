/** The boxes and edges of a model's graph that lie in an area, kept while the area moves. */
import type { ComponentChild } from 'preact';
import { useMemo } from 'preact/hooks';
import { drawPath, type Point } from '../../../report/graph-edges.js';
import type { GraphPlaces } from '../parts/graph/graph-types.js';
import { pressedBy } from '../parts/press.js';
import { clip, plainText } from '../parts/text.js';
import type { BoxLook, LookOf } from './box-look.js';
import type { CollapsedGraph, ModelBox } from './collapse.js';

export const BOX_HEIGHT = 40;

const [CHARACTER, PADDING, LONGEST] = [7.6, 12, 30];

/** In the coordinates of the layout. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface GraphContentProps {
  readonly graph: CollapsedGraph;
  readonly layout: GraphPlaces | undefined;
  readonly lookOf: LookOf;
  /** Id of a box. */
  readonly picked: string | undefined;
  readonly press: (box: ModelBox) => void;
  /** Id of the marker at the ends of edges. */
  readonly arrow: string;
  /** 'far': so small that texts cannot be read, and are left out. */
  readonly sight: 'near' | 'far';
}

/**
 * What is drawn in an area. The elements of a box stay the same objects while only the area changes, so that nothing is compared or drawn again but what
 * comes into sight.
 */
export function useGraphContent({ graph, layout, lookOf, picked, press, arrow, sight }: GraphContentProps, area: Area): ComponentChild {
  const { left, top, right, bottom } = area;
  const drawn = useMemo(
    () => ({ edges: new Map<number, ComponentChild>(), boxes: new Map<string, ComponentChild>() }),
    [graph, layout, lookOf, picked, sight],
  );
  return useMemo(() => {
    if (layout === undefined) return null;
    const isSeen = ({ x, y }: Point): boolean => x > left && x < right && y > top && y < bottom;
    const edges = graph.edges.flatMap((edge, index) => {
      const route = layout.routes[index] ?? [];
      if (!route.some(isSeen)) return [];
      const end = sight === 'far' ? undefined : `url(#${arrow})`;
      return keep(drawn.edges, index, () => drawEdge(edge, route, picked, end));
    });
    const boxes = graph.boxes.flatMap(box => {
      const place = layout.places[box.id];
      if (place === undefined || !isSeen(place)) return [];
      return keep(drawn.boxes, box.id, () => (
        <Box key={box.id} box={box} place={place} look={lookOf(box)} isPicked={box.id === picked} press={() => press(box)} sight={sight} />
      ));
    });
    return [...edges, ...boxes];
  }, [drawn, left, top, right, bottom]);
}

function keep<Key>(kept: Map<Key, ComponentChild>, key: Key, make: () => ComponentChild): ComponentChild {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = make();
  kept.set(key, made);
  return made;
}

function drawEdge(
  { from, to }: CollapsedGraph['edges'][number],
  route: readonly Point[],
  picked: string | undefined,
  end: string | undefined,
) {
  const look = from === picked || to === picked ? 'edge near' : 'edge';
  return <path key={`${from} ${to}`} class={look} d={drawPath(route)} marker-end={end} />;
}

interface BoxProps {
  readonly box: ModelBox;
  readonly place: Point;
  readonly look: BoxLook;
  readonly isPicked: boolean;
  readonly press: () => void;
  readonly sight: 'near' | 'far';
}

function Box({ box, place, look, isPicked, press, sight }: BoxProps) {
  const width = widthOf(box);
  const label = box.kind === 'scope' ? `${box.title}, ${box.nodes.length} nodes: open` : `${box.title} ${box.nodes[0]?.id ?? ''}`;
  return (
    <g
      class={`box model ${sight} ${box.kind}${isPicked ? ' picked' : ''}`}
      style={{ color: `var(--${look.tone})` }}
      transform={`translate(${place.x - width / 2} ${place.y - BOX_HEIGHT / 2})`}
    >
      <rect class="body" width={width} height={BOX_HEIGHT} rx={box.kind === 'scope' ? 10 : 4} />
      {sight === 'near' && (
        <>
          <rect class="strip" width={4} height={BOX_HEIGHT} rx={2} />
          <text class="title" x={PADDING} y={17}>
            {plainText(clip(titleOf(box), LONGEST))}
          </text>
          <text class="time left" x={PADDING} y={32}>
            {plainText(clip(look.note, LONGEST))}
          </text>
        </>
      )}
      <rect
        class="press"
        width={width}
        height={BOX_HEIGHT}
        role="button"
        tabindex={0}
        aria-label={plainText(label)}
        aria-pressed={isPicked}
        onClick={press}
        onKeyDown={pressedBy(press)}
      >
        <title>{plainText(label)}</title>
      </rect>
    </g>
  );
}

function titleOf({ kind, title, nodes }: ModelBox): string {
  return kind === 'scope' ? `▸ ${title}` : `${title}${nodes[0] === undefined ? '' : ` · ${nodes[0].id.split('/').at(-1)}`}`;
}

export function widthOf(box: ModelBox): number {
  return Math.max(110, Math.min(titleOf(box).length, LONGEST) * CHARACTER + 2 * PADDING);
}
