/** Square tiles of a graph's drawing: which ones a viewport shows, and where they lie. */
/** In the coordinates of the layout. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Tile {
  readonly key: string;
  readonly column: number;
  readonly row: number;
}

/** Of a tile on the screen, at the smallest scale that it is drawn for. */
const TILE_PX = 256;

/** The side of tiles in the coordinates of the layout: the same for all scales between two powers of two. */
export function tileSideAt(scale: number): number {
  return TILE_PX / 2 ** Math.floor(Math.log2(scale));
}

export function areaOf({ column, row }: Tile, side: number): Area {
  return { left: column * side, top: row * side, right: (column + 1) * side, bottom: (row + 1) * side };
}

/** Columns and rows of tiles, the last ones included. */
export interface TileRange {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The tiles that a viewport shows. */
export function rangeInSight({ x, y, scale }: Viewport, { width, height }: Size, side: number): TileRange {
  const along = (offset: number, length: number): readonly [number, number] => [
    Math.floor(-offset / scale / side),
    Math.ceil((length - offset) / scale / side) - 1,
  ];
  const [[left, right], [top, bottom]] = [along(x, width), along(y, height)];
  return { left, right, top, bottom };
}

/** The tiles of a range and those within `margin` tiles around it, nearest to its center first. */
export function tilesOf({ left, right, top, bottom }: TileRange, margin: number): readonly Tile[] {
  const tiles: Tile[] = [];
  for (let row = top - margin; row <= bottom + margin; row++)
    for (let column = left - margin; column <= right + margin; column++) tiles.push(tileAt(column, row));
  const distance = ({ column, row }: Tile): number => Math.hypot(column - (left + right) / 2, row - (top + bottom) / 2);
  return tiles.sort((a, b) => distance(a) - distance(b));
}

export function tileAt(column: number, row: number): Tile {
  return { key: `${column} ${row}`, column, row };
}
