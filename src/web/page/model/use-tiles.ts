/** The tiles of a graph that are in the document: a few new boxes and edges per frame, so that moving the graph stays smooth. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { rangeInSight, type Size, type Tile, tileSideAt, tilesOf, type Viewport } from './graph-tiles.js';

/** Tiles around the visible ones that are drawn before they come into sight, and kept after it. */
const MARGIN = 1;

/** A viewport that has not moved for so long is at rest: a hand that turns a wheel moves it every few frames. */
const REST_MS = 100;

/** A tile of which so many parts, in the order of its content, are in the document. */
export interface ShownTile {
  readonly tile: Tile;
  readonly parts: number;
}

interface ShownTiles {
  readonly content: unknown;
  readonly side: number;
  /** By the tile's key. */
  readonly tiles: Map<string, ShownTile>;
  /** The tiles by row and column; undefined: they have changed. */
  sorted: readonly ShownTile[] | undefined;
  /** Time of the frame in which parts were added last. */
  frame: unknown;
}

/** What a frame may add to the document; its last part may exceed it. */
export interface FrameBudget {
  readonly moving: number;
  readonly atRest: number;
}

export interface TilesInSight {
  /** In the coordinates of the layout. */
  readonly side: number;
  /** By row and column: the order in which keys walk along them. The same array until a tile changes. */
  readonly tiles: readonly ShownTile[];
}

/**
 * All parts of all visible tiles at once where the drawing has changed or its scale has passed a power of two; else the most urgent parts in
 * each frame, fewer while the drawing moves.
 * @param content equal while the drawing is the same. @param costsOf of a tile's parts.
 */
export function useTiles(
  viewport: Viewport,
  size: Size,
  content: unknown,
  costsOf: (tile: Tile, side: number) => readonly number[],
  budget: FrameBudget,
): TilesInSight {
  const [, redraw] = useState(0);
  const side = tileSideAt(viewport.scale);
  const { left, right, top, bottom } = rangeInSight(viewport, size, side);
  const { visible, near, keys } = useMemo(() => {
    const range = { left, right, top, bottom };
    const around = tilesOf(range, MARGIN);
    return { visible: tilesOf(range, 0), near: around, keys: new Set(around.map(({ key }) => key)) };
  }, [left, right, top, bottom]);
  const move = useRef({ viewport, atMs: 0 });
  if (move.current.viewport !== viewport) move.current = { viewport, atMs: performance.now() };
  const shown = useRef<ShownTiles>();
  const known = shown.current;
  const isSame = known !== undefined && known.content === content && known.side === side;
  const now: ShownTiles = isSame ? known : { content, side, tiles: new Map(), sorted: undefined, frame: undefined };
  shown.current = now;
  if (!isSame) for (const tile of visible) now.tiles.set(tile.key, { tile, parts: Infinity });
  const frame = document.timeline.currentTime;
  const missing = [...visible, ...near].filter(({ key }) => now.tiles.get(key)?.parts !== Infinity);
  if (isSame && now.frame !== frame && missing.length > 0) {
    now.frame = frame;
    const isMoving = performance.now() - move.current.atMs < REST_MS;
    addParts(now, missing, isMoving ? budget.moving : budget.atRest, tile => costsOf(tile, side));
  }
  const isWaiting = near.some(({ key }) => now.tiles.get(key)?.parts !== Infinity);
  // A tile that has moved far away: one per frame is removed.
  const surplus = isWaiting || now.tiles.size <= near.length ? undefined : [...now.tiles.keys()].find(key => !keys.has(key));
  if (surplus !== undefined && now.tiles.delete(surplus)) now.sorted = undefined;
  const hasMore = isWaiting || surplus !== undefined;
  useEffect(() => {
    if (!hasMore) return undefined;
    let request = 0;
    const ask = (): void => {
      request = requestAnimationFrame(() => (document.timeline.currentTime === now.frame ? ask() : redraw(count => count + 1)));
    };
    ask();
    return () => cancelAnimationFrame(request);
  });
  now.sorted ??= [...now.tiles.values()].sort((a, b) => a.tile.row - b.tile.row || a.tile.column - b.tile.column);
  return { side, tiles: now.sorted };
}

/** Adds parts of tiles until the budget is spent. @param missing the most urgent first; tiles may be repeated. */
function addParts(now: ShownTiles, missing: readonly Tile[], budget: number, costsOf: (tile: Tile) => readonly number[]): void {
  let left = budget;
  for (const tile of missing) {
    let parts = now.tiles.get(tile.key)?.parts ?? 0;
    if (parts === Infinity) continue;
    if (left <= 0) return;
    const costs = costsOf(tile);
    for (; parts < costs.length && left > 0; parts++) left -= costs[parts] ?? 0;
    now.tiles.set(tile.key, { tile, parts: parts === costs.length ? Infinity : parts });
    now.sorted = undefined;
  }
}
