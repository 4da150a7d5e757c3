/** The boxes and edges of a model's graph, tile by tile. */
import type { ComponentChild } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { drawPath, type Point, roundToTenth } from '../../../report/graph-edges.js';
import type { GraphPlaces } from '../parts/graph/graph-types.js';
import { pressedBy } from '../parts/press.js';
import { clip, plainText } from '../parts/text.js';
import type { BoxLook, LookOf } from './box-look.js';
import type { CollapsedGraph, ModelBox } from './collapse.js';
import { indexGraph } from './graph-index.js';
import { areaOf, type Tile } from './graph-tiles.js';

export const BOX_HEIGHT = 40;

const [CHARACTER, NOTE_CHARACTER, PADDING, LONGEST] = [7.6, 6.2, 12, 30];

/** Wide enough for most shapes of activations. */
const LEAST_WIDTH = 150;

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

/** What a tile draws. Edges are cut off at its sides; a box lies in the tile of its center, and may reach out of it. */
export interface TileContent {
  readonly edges: readonly ComponentChild[];
  readonly boxes: readonly ComponentChild[];
  /** Of each edge, then of each box. */
  readonly costs: readonly number[];
}

export interface GraphContent {
  /** The same objects at every call, so that nothing is compared or drawn again. */
  at(tile: Tile, side: number): TileContent;
}

/** What the browser needs to add a part to the document, in units of an edge: a box has six elements, two of them texts. */
const [EDGE_COST, BOX_COST] = [1, 3];

/** Tiles whose content is kept: several screens of 4K, which show 135 tiles of 256 pixels and those around them. */
const MOST_KEPT = 600;

/** Drawn tile by tile, and kept until the graph, its colors, the picked box or the sight change. */
export function useGraphContent({ graph, layout, lookOf, picked, press, arrow, sight }: GraphContentProps): GraphContent {
  const onPress = useRef(press);
  onPress.current = press;
  const index = useMemo(() => indexGraph(graph, layout), [graph, layout]);
  return useMemo(() => {
    const kept = new Map<string, TileContent>();
    const end = sight === 'far' ? undefined : `url(#${arrow})`;
    const draw = (tile: Tile, side: number): TileContent => {
      const found = index.find(areaOf(tile, side));
      const edges = found.edges.map(({ edge, route }) => drawEdge(edge, route, picked, end));
      const boxes = found.boxes.map(({ box, place }) => {
        const own = { box, place, look: lookOf(box), isPicked: box.id === picked, press: () => onPress.current(box), sight };
        return <Box key={box.id} {...own} />;
      });
      return { edges, boxes, costs: [...edges.map(() => EDGE_COST), ...boxes.map(() => BOX_COST)] };
    };
    const at = (tile: Tile, side: number): TileContent => {
      const key = `${side} ${tile.key}`;
      const known = kept.get(key) ?? draw(tile, side);
      // The last is the one asked for last.
      kept.delete(key);
      kept.set(key, known);
      const [oldest] = kept.keys();
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      return known;
    };
    return { at };
  }, [index, lookOf, picked, sight, arrow]);
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
  // Places instead of a transform: with one, the browser keeps and paints each box as a group of its own.
  const [x, y] = [roundToTenth(place.x - width / 2), roundToTenth(place.y - BOX_HEIGHT / 2)];
  return (
    <g class={`box model ${sight} ${box.kind}${isPicked ? ' picked' : ''}`} style={{ color: `var(--${look.tone})` }}>
      <rect
        class="body press"
        x={x}
        y={y}
        width={width}
        height={BOX_HEIGHT}
        rx={box.kind === 'scope' ? 10 : 4}
        role="button"
        tabindex={0}
        aria-label={plainText(label)}
        aria-pressed={isPicked}
        onClick={press}
        onKeyDown={pressedBy(press)}
      >
        <title>{plainText(label)}</title>
      </rect>
      {sight === 'near' && (
        <>
          <rect class="strip" x={x} y={y} width={4} height={BOX_HEIGHT} rx={2} />
          <text class="title" x={x + PADDING} y={y + 17}>
            {plainText(clip(titleOf(box), LONGEST))}
          </text>
          <text class="time left" x={x + PADDING} y={y + 32}>
            {plainText(clip(look.note, Math.floor((width - 2 * PADDING) / NOTE_CHARACTER)))}
          </text>
        </>
      )}
    </g>
  );
}

function titleOf({ kind, title, nodes }: ModelBox): string {
  return kind === 'scope' ? `▸ ${title}` : `${title}${nodes[0] === undefined ? '' : ` · ${nodes[0].id.split('/').at(-1)}`}`;
}

export function widthOf(box: ModelBox): number {
  return Math.max(LEAST_WIDTH, Math.min(titleOf(box).length, LONGEST) * CHARACTER + 2 * PADDING);
}
