/** How long do the steps of a detector take? Over many pictures, the first left out: it also warms up. */
import type { StepTime } from '../../detection/detector/measure.js';

export interface StepFigure {
  readonly step: string;
  /** Mean per picture. */
  readonly ms: number;
}

export interface Timing {
  /** That were measured. */
  readonly pictures: number;
  readonly msPerPicture: number;
  readonly picturesPerSecond: number;
  /** In the order in which a picture meets them. */
  readonly steps: readonly StepFigure[];
}

/** @param pictures the steps of each; with several, the first does not count. Undefined where there is none. */
export function summarizeTimes(pictures: readonly (readonly StepTime[])[]): Timing | undefined {
  const counting = pictures.length > 1 ? pictures.slice(1) : pictures;
  if (counting.length === 0) return undefined;
  const sums = new Map<string, number>();
  for (const { step, ms } of counting.flat()) sums.set(step, (sums.get(step) ?? 0) + ms);
  const msPerPicture = [...sums.values()].reduce((sum, ms) => sum + ms, 0) / counting.length;
  return {
    pictures: counting.length,
    msPerPicture,
    picturesPerSecond: 1000 / msPerPicture,
    steps: [...sums].map(([step, ms]) => ({ step, ms: ms / counting.length })),
  };
}
