/** The drawing of a model's graph: pan and zoom, only what is visible is in the document, boxes open and close. */
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { drawPath, type Point } from '../../../report/graph-edges.js';
import type { GraphOrder, GraphPlaces } from '../parts/graph/graph-types.js';
import { useLayout } from '../parts/graph/use-layout.js';
import { Empty } from '../parts/notice.js';
import { clip, plainText } from '../parts/text.js';
import type { BoxLook, LookOf } from './box-look.js';
import type { CollapsedGraph, ModelBox } from './collapse.js';

interface GraphProps {
  readonly graph: CollapsedGraph;
  /** Of the graph, where several are shown. */
  readonly name?: string;
  readonly lookOf: LookOf;
  readonly picked: string | undefined;
  readonly pick: (node: string) => void;
  readonly toggle: (scope: string) => void;
}

const [BOX_HEIGHT, CHARACTER, PADDING, LONGEST] = [40, 7.6, 12, 30];

interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

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
  const layout = useLayout(order);
  const arrow = `model-arrow-${useId()}`;
  const frame = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState<Viewport>({ x: 0, y: 0, scale: 1 });
  const size = useSize(frame);
  const pickedBox = graph.boxes.find(({ nodes, kind }) => kind === 'node' && nodes[0]?.id === picked)?.id;
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
  const { left, top, right, bottom } = drawnArea(viewport, size);
  // While the viewport stays in the area, only the transform changes.
  const content = useMemo(() => {
    const isSeen = ({ x, y }: Point): boolean => x > left && x < right && y > top && y < bottom;
    return layout === undefined ? null : (
      <>
        <Edges arrow={arrow} edges={graph.edges} routes={layout.routes} picked={pickedBox} isSeen={isSeen} />
        {graph.boxes.map(box => {
          const place = layout.places[box.id];
          return place === undefined || !isSeen(place) ? null : (
            <Box
              key={box.id}
              box={box}
              place={place}
              look={lookOf(box)}
              isPicked={box.id === pickedBox}
              press={() => (box.kind === 'node' ? pick(box.nodes[0]?.id ?? '') : toggle(box.title))}
            />
          );
        })}
      </>
    );
  }, [graph, layout, lookOf, pickedBox, left, top, right, bottom]);
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
      onWheel={event => {
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) {
          const box = event.currentTarget.getBoundingClientRect();
          zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
        } else setViewport(before => ({ ...before, x: before.x - event.deltaX, y: before.y - event.deltaY }));
      }}
    >
      <ZoomButtons
        zoom={zoom}
        fit={() => setViewport({ x: 8, y: 8, scale: Math.min(1, size.width / layout.width, size.height / layout.height) })}
      />
      <svg width={size.width} height={size.height} role="group" aria-label="Nodes">
        <defs>
          <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0.5L8 4L0 7.5Z" />
          </marker>
        </defs>
        <g transform={`translate(${viewport.x} ${viewport.y}) scale(${viewport.scale})`}>{content}</g>
      </svg>
    </div>
  );
}

/** Boxes reach this far from their centers. */
const REACH = 200;

/**
 * The part of the drawing that is in the document: what is visible and half a window around it, in steps of half a window. It is the same for all
 * viewports of one step, and for scales between two powers of two.
 */
function drawnArea({ x, y, scale }: Viewport, { width, height }: { readonly width: number; readonly height: number }) {
  const coarse = 2 ** Math.floor(Math.log2(scale));
  const along = (offset: number, length: number): readonly [number, number] => {
    const step = length / coarse / 2;
    const first = Math.floor(-offset / scale / step) - 1;
    return [first * step - REACH, (first + 5) * step + REACH];
  };
  const [[left, right], [top, bottom]] = [along(x, width), along(y, height)];
  return { left, right, top, bottom };
}

interface EdgesProps {
  readonly edges: CollapsedGraph['edges'];
  readonly routes: GraphPlaces['routes'];
  readonly picked: string | undefined;
  readonly isSeen: (point: Point) => boolean;
  readonly arrow: string;
}

function Edges({ edges, routes, picked, isSeen, arrow }: EdgesProps) {
  return (
    <>
      {edges.map(({ from, to }, index) => {
        const route = routes[index] ?? [];
        if (!route.some(isSeen)) return null;
        const look = from === picked || to === picked ? 'edge near' : 'edge';
        return <path key={`${from} ${to}`} class={look} d={drawPath(route)} marker-end={`url(#${arrow})`} />;
      })}
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

interface BoxProps {
  readonly box: ModelBox;
  readonly place: Point;
  readonly look: BoxLook;
  readonly isPicked: boolean;
  readonly press: () => void;
}

function Box({ box, place, look, isPicked, press }: BoxProps) {
  const width = widthOf(box);
  const label = box.kind === 'scope' ? `${box.title}, ${box.nodes.length} nodes: open` : `${box.title} ${box.nodes[0]?.id ?? ''}`;
  return (
    <g
      class={`box model ${box.kind}${isPicked ? ' picked' : ''}`}
      style={{ color: `var(--${look.tone})` }}
      transform={`translate(${place.x - width / 2} ${place.y - BOX_HEIGHT / 2})`}
    >
      <rect class="body" width={width} height={BOX_HEIGHT} rx={box.kind === 'scope' ? 10 : 4} />
      <rect class="strip" width={4} height={BOX_HEIGHT} rx={2} />
      <text class="title" x={PADDING} y={17}>
        {plainText(clip(titleOf(box), LONGEST))}
      </text>
      <text class="time left" x={PADDING} y={32}>
        {plainText(clip(look.note, LONGEST))}
      </text>
      <rect
        class="press"
        width={width}
        height={BOX_HEIGHT}
        role="button"
        tabindex={0}
        aria-label={plainText(label)}
        aria-pressed={isPicked}
        onClick={press}
        onKeyDown={event => event.key === 'Enter' && press()}
      >
        <title>{plainText(label)}</title>
      </rect>
    </g>
  );
}

function titleOf({ kind, title, nodes }: ModelBox): string {
  return kind === 'scope' ? `▸ ${title}` : `${title}${nodes[0] === undefined ? '' : ` · ${nodes[0].id.split('/').at(-1)}`}`;
}

function widthOf(box: ModelBox): number {
  return Math.max(110, Math.min(titleOf(box).length, LONGEST) * CHARACTER + 2 * PADDING);
}

/** The whole width where it is readable so, else the first box in the middle. */
function firstViewport({ width }: GraphPlaces, first: Point | undefined, room: number): Viewport {
  const scale = Math.min(1, Math.max(0.5, room / width));
  return { x: width * scale <= room ? (room - width * scale) / 2 : room / 2 - (first?.x ?? width / 2) * scale, y: 8, scale };
}

function useSize(frame: { readonly current: HTMLDivElement | null }): { readonly width: number; readonly height: number } {
  const [size, setSize] = useState({ width: 900, height: 600 });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
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
