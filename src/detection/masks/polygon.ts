/** Rasterizes COCO polygons exactly as the COCO API does: it traces the outline at five times the resolution. */
import { type Rle, rleFromChanges } from './rle.js';
import { emptyRle, unionOf } from './rle-combine.js';

/** Alternating x and y in pixels. The last point is connected to the first. */
export type Polygon = readonly number[];

const FINER = 5;

/** The union of several polygons of one object. */
export function rasterizePolygons(polygons: readonly Polygon[], height: number, width: number): Rle {
  const [first, ...rest] = polygons.map(polygon => rasterizePolygon(polygon, height, width));
  return first === undefined ? emptyRle(height, width) : unionOf([first, ...rest]);
}

/**
 * The mask of one polygon. The outline is traced on a five times finer grid. Where the trace crosses the center of a pixel column, the mask changes
 * below that row. Points may lie outside the image. Rounding equals that of the COCO API.
 * @see COCO API, `maskApi.c`, `rleFrPoly`.
 */
export function rasterizePolygon(polygon: Polygon, height: number, width: number): Rle {
  const corners = Float64Array.from(polygon, value => Math.trunc(FINER * value + 0.5));
  const trace: Trace = {
    changes: new Uint32Array(countColumns(corners)),
    count: 0,
    lastX: corners[0] ?? 0,
    lastY: corners[1] ?? 0,
    height,
    width,
  };
  for (let i = 0; i + 1 < corners.length; i += 2) {
    const next = i + 3 < corners.length ? i + 2 : 0;
    traceEdge(trace, corners[i] as number, corners[i + 1] as number, corners[next] as number, corners[next + 1] as number);
  }
  return rleFromChanges(height, width, trace.changes.subarray(0, trace.count).sort());
}

interface Trace {
  /** Column-major positions at which the mask changes, in the order of the outline. */
  readonly changes: Uint32Array;
  count: number;
  /** The previous point. */
  lastX: number;
  lastY: number;
  readonly height: number;
  readonly width: number;
}

/** Upper limit of the column centers that the outline crosses. */
function countColumns(corners: Float64Array): number {
  let crossings = 0;
  for (let i = 0; i + 1 < corners.length; i += 2) {
    const next = i + 3 < corners.length ? i + 2 : 0;
    crossings += Math.ceil(Math.abs((corners[next] as number) - (corners[i] as number)) / FINER) + 1;
  }
  return crossings;
}

/** Steps along the longer axis, both ends included. The line is always computed from its smaller end, so that an edge has the same points in both directions. */
function traceEdge(trace: Trace, fromX: number, fromY: number, toX: number, toY: number): void {
  const [spanX, spanY] = [Math.abs(toX - fromX), Math.abs(toY - fromY)];
  const flat = spanX >= spanY;
  const backwards = flat ? fromX > toX : fromY > toY;
  const startX = backwards ? toX : fromX;
  const startY = backwards ? toY : fromY;
  const steps = flat ? spanX : spanY;
  const slope = steps === 0 ? 0 : (flat ? (backwards ? fromY : toY) - startY : (backwards ? fromX : toX) - startX) / steps;
  for (let step = 0; step <= steps; step++) {
    const along = backwards ? steps - step : step;
    const x = flat ? startX + along : Math.trunc(startX + slope * along + 0.5);
    const y = flat ? Math.trunc(startY + slope * along + 0.5) : startY + along;
    if (x !== trace.lastX) crossColumn(trace, x, y);
    trace.lastX = x;
    trace.lastY = y;
  }
}

/** Records a change where the step from the last point crosses the center of a column of the image. */
function crossColumn(trace: Trace, x: number, y: number): void {
  const left = x < trace.lastX ? x : x - 1;
  if ((left - HALF) % FINER !== 0) return;
  const column = (left - HALF) / FINER;
  if (column < 0 || column > trace.width - 1) return;
  const row = ((y < trace.lastY ? y : trace.lastY) + 0.5) / FINER - 0.5;
  trace.changes[trace.count++] = column * trace.height + Math.ceil(row < 0 ? 0 : row > trace.height ? trace.height : row);
}

/** Offset of a column's center in fine columns. */
const HALF = (FINER - 1) / 2;
