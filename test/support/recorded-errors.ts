/** The errors that TIDE's program recorded and ours, as one list of numbers each. */
import type { ErrorSplit } from '../../src/detection/coco/errors.js';
import { ERROR_KINDS } from '../../src/detection/coco/image-errors.js';

/** Costs in 0…100; lists in the order of ERROR_KINDS. */
export interface RecordedErrors {
  readonly ap: number;
  readonly costs: readonly number[];
  readonly counts: readonly number[];
  readonly falsePositives: number;
  readonly falseNegatives: number;
}

export function flattenErrors({ ap, kinds, falsePositives, falseNegatives }: ErrorSplit): readonly number[] {
  return [ap, ...ERROR_KINDS.flatMap(kind => [kinds[kind].cost, kinds[kind].count]), falsePositives.cost, falseNegatives.cost];
}

export function flattenTide({ ap, costs, counts, falsePositives, falseNegatives }: RecordedErrors): readonly number[] {
  return [ap / 100, ...costs.flatMap((cost, i) => [cost / 100, counts[i] ?? Number.NaN]), falsePositives / 100, falseNegatives / 100];
}
