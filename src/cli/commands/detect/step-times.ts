/** Summarizes the step times of a detector over many pictures. The first picture is left out because it includes the warm-up. */
import type { StepTime } from '../../../detection/detector/measure.js';

export interface StepFigure {
  readonly step: string;
  /** Mean per picture, in milliseconds. */
  readonly ms: number;
}

export interface Timing {
  /** The number of measured pictures. */
  readonly pictures: number;
  readonly msPerPicture: number;
  readonly picturesPerSecond: number;
  /** In the order of execution. */
  readonly steps: readonly StepFigure[];
}

/** @param pictures the step times of each picture. With several pictures, the first is left out. @returns undefined if there is no picture. */
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
