/** The drawing of a model's graph: pan and zoom, only what is visible is in the document, boxes open and close. */
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Point } from '../../../report/graph-edges.js';
import { ApiError } from '../api/client.js';
import type { GraphOrder, GraphPlaces } from '../parts/graph/graph-types.js';
import { useLayout } from '../parts/graph/use-layout.js';
import { Empty, Failed } from '../parts/notice.js';
import type { LookOf } from './box-look.js';
import type { CollapsedGraph } from './collapse.js';
import { type Area, BOX_HEIGHT, useGraphContent, widthOf } from './graph-content.js';

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
  const laidOut = useLayout(order);
  const layout = laidOut instanceof ApiError ? undefined : laidOut;
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
  const area = drawnArea(viewport, size);
  const content = useGraphContent(
    {
      graph,
      layout,
      lookOf,
      picked: pickedBox,
      press: box => (box.kind === 'node' ? pick(box.nodes[0]?.id ?? '') : toggle(box.title)),
      arrow,
      sight: viewport.scale < READABLE ? 'far' : 'near',
    },
    area,
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
      <ZoomButtons
        zoom={zoom}
        fit={() => setViewport({ x: 8, y: 8, scale: Math.min(1, (size.width - 16) / layout.width, (size.height - 16) / layout.height) })}
      />
      <svg {...placeOf(area, viewport)} role="group" aria-label="Nodes">
        <defs>
          <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0.5L8 4L0 7.5Z" />
          </marker>
        </defs>
        {content}
      </svg>
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

/** The drawing of an area as a layer of its own: while the area stays, moving it is a transform, and nothing is painted again. */
function placeOf({ left, top, right, bottom }: Area, { x, y, scale }: Viewport) {
  const [width, height] = [right - left, bottom - top];
  return {
    viewBox: `${left} ${top} ${width} ${height}`,
    width: width * scale,
    height: height * scale,
    style: { transform: `translate(${x + left * scale}px, ${y + top * scale}px)` },
  };
}

/** Boxes reach this far from their centers. */
const REACH = 200;

/**
 * The part of the drawing that is in the document: what is visible and a quarter of a window around it, in steps of a quarter. It is the same for all
 * viewports of one step, and for scales between two powers of two.
 */
function drawnArea({ x, y, scale }: Viewport, { width, height }: { readonly width: number; readonly height: number }): Area {
  const coarse = 2 ** Math.floor(Math.log2(scale));
  const along = (offset: number, length: number): readonly [number, number] => {
    const step = length / coarse / 4;
    const first = Math.floor(-offset / scale / step) - 1;
    return [first * step - REACH, (first + 7) * step + REACH];
  };
  const [[left, right], [top, bottom]] = [along(x, width), along(y, height)];
  return { left, right, top, bottom };
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
