/** A slow rasterizer of polygons that follows the COCO source step by step. It is the reference of the fast one. */
import type { Polygon } from '../../src/detection/masks/polygon.js';
import { makeRle, type Rle } from '../../src/detection/masks/rle.js';

const FINER = 5;

export function rasterizePlainly(polygon: Polygon, height: number, width: number): Rle {
  const changes = findChanges(traceOutline(polygon), height, width);
  changes.push(height * width);
  changes.sort((a, b) => a - b);
  return makeRle(
    height,
    width,
    changes.map((place, index) => place - (changes[index - 1] ?? 0)),
  );
}

interface Outline {
  readonly xs: number[];
  readonly ys: number[];
}

/** The outline as a chain of points on the finer grid, each a step from the one before along the longer axis. */
function traceOutline(polygon: Polygon): Outline {
  const outline: Outline = { xs: [], ys: [] };
  const fine = polygon.map(value => Math.trunc(FINER * value + 0.5));
  for (let i = 0; i + 1 < fine.length; i += 2) {
    const next = i + 3 < fine.length ? i + 2 : 0;
    traceEdge(outline, fine[i] as number, fine[i + 1] as number, fine[next] as number, fine[next + 1] as number);
  }
  return outline;
}

/** Both ends included. The line is always computed from its smaller end, so that an edge gives the same points in either direction. */
function traceEdge(outline: Outline, fromX: number, fromY: number, toX: number, toY: number): void {
  const [spanX, spanY] = [Math.abs(toX - fromX), Math.abs(toY - fromY)];
  const flat = spanX >= spanY;
  const backwards = flat ? fromX > toX : fromY > toY;
  const [startX, startY, endX, endY] = backwards ? [toX, toY, fromX, fromY] : [fromX, fromY, toX, toY];
  const steps = flat ? spanX : spanY;
  const slope = steps === 0 ? 0 : (flat ? endY - startY : endX - startX) / steps;
  for (let step = 0; step <= steps; step++) {
    const along = backwards ? steps - step : step;
    outline.xs.push(flat ? startX + along : Math.trunc(startX + slope * along + 0.5));
    outline.ys.push(flat ? Math.trunc(startY + slope * along + 0.5) : startY + along);
  }
}

/** Column-major places at which the mask changes, in the order of the outline. */
function findChanges({ xs, ys }: Outline, height: number, width: number): number[] {
  const changes: number[] = [];
  for (let i = 1; i < xs.length; i++) {
    const [x, before] = [xs[i] as number, xs[i - 1] as number];
    if (x === before) continue;
    const column = ((x < before ? x : x - 1) + 0.5) / FINER - 0.5;
    if (!Number.isInteger(column) || column < 0 || column > width - 1) continue;
    const row = (Math.min(ys[i] as number, ys[i - 1] as number) + 0.5) / FINER - 0.5;
    changes.push(column * height + Math.ceil(Math.min(Math.max(row, 0), height)));
  }
  return changes;
}
