/** Which of the integers of a range have a line: as many as can be told apart. */

/** Lines closer than this are a gray area. */
const LEAST_PX = 5;

export interface GridLines {
  /** Every n-th integer has a line: 1, 2, 4, … */
  readonly every: number;
  /** Of the integers with a line, counted from the lower end of the range. */
  readonly indexes: readonly number[];
}

/** @param steps between the lowest and the highest integer. @param widthPx of the range in the drawing. */
export function chooseGridLines(steps: number, widthPx: number): GridLines {
  if (!(steps > 0) || !(widthPx > 0)) return { every: 1, indexes: [] };
  let every = 1;
  while ((widthPx / steps) * every < LEAST_PX && every < steps) every *= 2;
  return { every, indexes: Array.from({ length: Math.floor(steps / every) + 1 }, (_, index) => index * every) };
}
