/** The drawing of a model's graph: pan and zoom, only the tiles in sight are in the document, boxes open and close. */
import type { ComponentChild } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Point } from '../../../report/graph-edges.js';
import { ApiError } from '../api/client.js';
import type { GraphOrder, GraphPlaces } from '../parts/graph/graph-types.js';
import { useLayout } from '../parts/graph/use-layout.js';
import { Empty, Failed } from '../parts/notice.js';
import type { LookOf } from './box-look.js';
import type { CollapsedGraph } from './collapse.js';
import { BOX_HEIGHT, type GraphContent, useGraphContent, widthOf } from './graph-content.js';
import { areaOf, type Size, type Viewport } from './graph-tiles.js';
import { type ShownTile, useTiles } from './use-tiles.js';

interface GraphProps {
  readonly graph: CollapsedGraph;
  /** Of the graph, where several are shown. */
  readonly name?: string;
  readonly lookOf: LookOf;
  readonly picked: string | undefined;
  readonly pick: (node: string) => void;
  readonly toggle: (scope: string) => void;
}

/** Below this scale, texts cannot be read. */
const READABLE = 0.3;

/** The least scale at which a whole graph is shown first, and that of a wider one. */
const [LEAST_FIRST, FIRST] = [0.4, 0.5];

/** Space around a graph, and above it where the buttons would lie on it, in pixels. */
const [EDGE, BELOW_BUTTONS, NARROW] = [8, 48, 480];

/** What a frame may add, in units of an edge: while the graph moves, its work stays below 8 ms. */
const BUDGET = { moving: 9, atRest: 45 };

export function ModelGraph({ graph, name, lookOf, picked, pick, toggle }: GraphProps) {
  const order = useMemo<GraphOrder>(
    () => ({
      nodes: graph.boxes.map(box => ({ id: box.id, width: widthOf(box), height: BOX_HEIGHT })),
      edges: graph.edges,
      direction: 'down',
      gaps: { rank: 28, node: 16 },
    }),
    [graph],
  );
  const laidOut = useLayout(order);
  const layout = laidOut instanceof ApiError ? undefined : laidOut;
  const arrow = `model-arrow-${useId()}`;
  const frame = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState<Viewport>({ x: 0, y: 0, scale: 1 });
  const size = useSize(frame);
  const pickedBox = useMemo(
    () => (picked === undefined ? undefined : graph.boxes.find(({ nodes, kind }) => kind === 'node' && nodes[0]?.id === picked)?.id),
    [graph, picked],
  );
  useEffect(() => {
    if (layout === undefined) return;
    const target = pickedBox === undefined ? undefined : layout.places[pickedBox];
    setViewport(before =>
      target === undefined
        ? firstViewport(layout, layout.places[graph.boxes[0]?.id ?? ''], size.width)
        : { ...before, x: size.width / 2 - target.x * before.scale, y: size.height / 2 - target.y * before.scale },
    );
  }, [layout, pickedBox, size.width]);
  const drag = useDrag(viewport, setViewport);
  const content = useGraphContent({
    graph,
    layout,
    lookOf,
    picked: pickedBox,
    press: box => (box.kind === 'node' ? pick(box.nodes[0]?.id ?? '') : toggle(box.title)),
    arrow,
    sight: viewport.scale < READABLE ? 'far' : 'near',
  });
  const { side, tiles } = useTiles(viewport, size, content, (tile, at) => content.at(tile, at).costs, BUDGET);
  const drawn = useMemo(
    () => <Tiles tiles={tiles} side={side} scale={viewport.scale} content={content} />,
    [tiles, side, viewport.scale, content],
  );
  if (laidOut instanceof ApiError) return <Failed error={laidOut} />;
  if (layout === undefined) return <Empty>Laying out {graph.boxes.length} boxes …</Empty>;
  const zoom = (factor: number, at: Point = { x: size.width / 2, y: size.height / 2 }): void =>
    setViewport(({ x, y, scale }) => {
      const next = Math.min(3, Math.max(0.05, scale * factor));
      return { scale: next, x: at.x - ((at.x - x) * next) / scale, y: at.y - ((at.y - y) * next) / scale };
    });
  return (
    <div
      class="canvas"
      ref={frame}
      role="region"
      aria-label={`Graph of ${graph.boxes.length} boxes${name === undefined ? '' : `, ${name}`}`}
      {...drag}
      onFocusIn={event => setViewport(before => bringIntoSight(before, event.target as Element, event.currentTarget))}
      onWheel={event => {
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) {
          const box = event.currentTarget.getBoundingClientRect();
          zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
        } else setViewport(before => ({ ...before, x: before.x - event.deltaX, y: before.y - event.deltaY }));
      }}
    >
      <ZoomButtons zoom={zoom} fit={() => setViewport(wholeViewport(layout, size))} />
      <svg class="marks" aria-hidden="true">
        <defs>
          <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0.5L8 4L0 7.5Z" />
          </marker>
        </defs>
      </svg>
      <div class="drawn" role="group" aria-label="Nodes" style={{ transform: `translate(${viewport.x}px, ${viewport.y}px)` }}>
        {drawn}
      </div>
    </div>
  );
}

/** The viewport in which an element that got the focus is visible: the same one where it is already. */
function bringIntoSight(viewport: Viewport, element: Element, frame: Element): Viewport {
  const [own, all] = [element.getBoundingClientRect(), frame.getBoundingClientRect()];
  const shift = (low: number, high: number, least: number, most: number): number =>
    low < least ? least - low : high > most ? most - high : 0;
  const [dx, dy] = [shift(own.left, own.right, all.left, all.right), shift(own.top, own.bottom, all.top, all.bottom)];
  return dx === 0 && dy === 0 ? viewport : { ...viewport, x: viewport.x + dx, y: viewport.y + dy };
}

interface TilesProps {
  readonly tiles: readonly ShownTile[];
  readonly side: number;
  readonly scale: number;
  readonly content: GraphContent;
}

interface DrawnTile {
  readonly edges: ComponentChild;
  readonly boxes: ComponentChild;
}

/** A transform around them moves all: while the tiles stay, nothing is painted again, and of a new part only its own tile. */
function Tiles({ tiles, side, scale, content }: TilesProps) {
  const kept = useMemo(() => new WeakMap<ShownTile, DrawnTile>(), [side, scale, content]);
  const draw = (shown: ShownTile): DrawnTile => {
    const { tile, parts } = shown;
    const { left, top } = areaOf(tile, side);
    const { edges, boxes } = content.at(tile, side);
    const layer = (what: 'edges' | 'boxes', own: readonly ComponentChild[]): ComponentChild =>
      own.length > 0 && (
        <svg
          key={`${what} ${tile.key}`}
          class={what}
          role="presentation"
          viewBox={`${left} ${top} ${side} ${side}`}
          width={side * scale}
          height={side * scale}
          style={{ left: `${left * scale}px`, top: `${top * scale}px` }}
        >
          {own}
        </svg>
      );
    const made = {
      edges: layer('edges', edges.slice(0, parts)),
      boxes: layer('boxes', boxes.slice(0, Math.max(0, parts - edges.length))),
    };
    kept.set(shown, made);
    return made;
  };
  const drawn = tiles.map(shown => kept.get(shown) ?? draw(shown));
  return (
    <>
      {drawn.map(({ edges }) => edges)}
      {drawn.map(({ boxes }) => boxes)}
    </>
  );
}

function ZoomButtons({ zoom, fit }: { readonly zoom: (factor: number) => void; readonly fit: () => void }) {
  return (
    <div class="zoom">
      <button type="button" onClick={() => zoom(1.3)} aria-label="Zoom in">
        +
      </button>
      <button type="button" onClick={() => zoom(1 / 1.3)} aria-label="Zoom out">
        −
      </button>
      <button type="button" onClick={fit}>
        Fit
      </button>
    </div>
  );
}

/** The whole width where it is readable so, else the first box in the middle, without space beside the graph. */
function firstViewport({ width }: GraphPlaces, first: Point | undefined, frame: number): Viewport {
  const room = frame - 2 * EDGE;
  const isWhole = width * LEAST_FIRST <= room;
  const scale = isWhole ? Math.min(1, room / width) : FIRST;
  const x = isWhole
    ? (frame - width * scale) / 2
    : Math.min(EDGE, Math.max(frame - EDGE - width * scale, frame / 2 - (first?.x ?? width / 2) * scale));
  return { x, y: frame < NARROW ? BELOW_BUTTONS : EDGE, scale };
}

function wholeViewport({ width, height }: GraphPlaces, frame: Size): Viewport {
  const scale = Math.min(1, (frame.width - 2 * EDGE) / width, (frame.height - 2 * EDGE) / height);
  return { x: (frame.width - width * scale) / 2, y: EDGE, scale };
}

function useSize(frame: { readonly current: HTMLDivElement | null }): Size {
  const [size, setSize] = useState({ width: 900, height: 600 });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      // An element that leaves the document has no size.
      if (width > 0 && height > 0) setSize({ width, height });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame.current]);
  return size;
}

function useDrag(viewport: Viewport, setViewport: (viewport: Viewport) => void) {
  const start = useRef<{ readonly at: Point; readonly viewport: Viewport; readonly pointer: number } | undefined>(undefined);
  return {
    onPointerDown(event: PointerEvent & { readonly currentTarget: HTMLElement }) {
      if (event.button !== 0) return;
      start.current = { at: { x: event.clientX, y: event.clientY }, viewport, pointer: event.pointerId };
    },
    onPointerMove(event: PointerEvent & { readonly currentTarget: HTMLElement }) {
      const from = start.current;
      if (from === undefined) return;
      const [dx, dy] = [event.clientX - from.at.x, event.clientY - from.at.y];
      // A click moves a little too.
      if (Math.abs(dx) + Math.abs(dy) < 4) return;
      event.currentTarget.setPointerCapture(from.pointer);
      setViewport({ ...from.viewport, x: from.viewport.x + dx, y: from.viewport.y + dy });
    },
    onPointerUp() {
      start.current = undefined;
    },
    onPointerCancel() {
      start.current = undefined;
    },
  };
}
