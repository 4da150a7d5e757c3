/** The tiles of a graph that are in the document: a few new ones per frame, so that moving the graph stays smooth. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Size, type Tile, tileSideAt, tilesInSight, type Viewport } from './graph-tiles.js';

/** Tiles beyond the visible ones: drawn before they come into sight, and kept after it. */
const [AHEAD, KEPT] = [1, 1];

interface DrawnTiles {
  readonly content: unknown;
  readonly side: number;
  readonly tiles: Map<string, Tile>;
  /** Time of the frame in which tiles were added last. */
  frame: unknown;
}

export interface TilesInSight {
  /** In the coordinates of the layout. */
  readonly side: number;
  /** By row and column: the order in which keys walk along them. */
  readonly tiles: readonly Tile[];
}

/**
 * All visible tiles at once where the drawing has changed or its scale has passed a power of two; while it moves, the most urgent ones of each frame.
 * @param content equal while the drawing is the same. @param costOf a tile with much to draw may be the only one of its frame. @param budget of a frame.
 */
export function useTiles(
  viewport: Viewport,
  size: Size,
  content: unknown,
  costOf: (tile: Tile, side: number) => number,
  budget: number,
): TilesInSight {
  const [, redraw] = useState(0);
  const side = tileSideAt(viewport.scale);
  const drawn = useRef<DrawnTiles>();
  const known = drawn.current;
  const isSame = known !== undefined && known.content === content && known.side === side;
  const now: DrawnTiles = isSame ? known : { content, side, tiles: new Map<string, Tile>(), frame: undefined };
  drawn.current = now;
  if (!isSame) for (const tile of tilesInSight(viewport, size, side, 0)) now.tiles.set(tile.key, tile);
  const missing = missingTiles(
    now.tiles,
    [0, AHEAD].flatMap(margin => tilesInSight(viewport, size, side, margin)),
  );
  const frame = document.timeline.currentTime;
  if (isSame && now.frame !== frame && missing.length > 0) {
    now.frame = frame;
    let cost = 0;
    for (let next = missing.shift(); next !== undefined; next = cost < budget ? missing.shift() : undefined) {
      now.tiles.set(next.key, next);
      cost += costOf(next, side);
    }
  }
  const isWaiting = missing.length > 0;
  const surplus = findSurplus(now.tiles, viewport, size, side);
  if (!isWaiting && surplus !== undefined) now.tiles.delete(surplus);
  useEffect(() => {
    if (!isWaiting && surplus === undefined) return undefined;
    const request = requestAnimationFrame(() => redraw(count => count + 1));
    return () => cancelAnimationFrame(request);
  });
  return { side, tiles: [...now.tiles.values()].sort((a, b) => a.row - b.row || a.column - b.column) };
}

/** @param wanted the most urgent first; tiles may be repeated. */
function missingTiles(tiles: ReadonlyMap<string, Tile>, wanted: readonly Tile[]): Tile[] {
  return [...new Map(wanted.map(tile => [tile.key, tile])).values()].filter(({ key }) => !tiles.has(key));
}

/** A tile that has moved far away: one per frame is removed. */
function findSurplus(tiles: ReadonlyMap<string, Tile>, viewport: Viewport, size: Size, side: number): string | undefined {
  const near = tilesInSight(viewport, size, side, KEPT);
  if (tiles.size <= near.length) return undefined;
  const keys = new Set(near.map(({ key }) => key));
  return [...tiles.keys()].find(key => !keys.has(key));
}
