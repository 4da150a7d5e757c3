/** Edges as smooth lines: quadratic curves between midpoints. */
import type { Point } from './graph-types.js';

export function drawPath(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return '';
  const last = others.at(-1) ?? first;
  let path = `M${at(first)}`;
  for (const [index, point] of others.slice(0, -1).entries()) {
    const next = others[index + 1] ?? last;
    const end = index === others.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    path += `Q${at(point)} ${at(end)}`;
  }
  return others.length === 1 ? `${path}L${at(last)}` : path;
}

function at({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}
