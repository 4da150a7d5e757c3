/** Greedy non-maximum suppression. */

import { coverPlainly } from './box-coverage.js';
import { type Boxes, boxAreas, gatherBoxes } from './boxes.js';
import { MOST_COVERED, openCoverage } from './nms-kernel.js';
import { sortByScore } from './top-k.js';

const at = (values: Float32Array, index: number): number => values[index] as number;

/** Number of boxes from which the kernel is faster than plain code. */
const FEW = 16;

/**
 * Indices of at most `limit` kept boxes, by falling score; equal scores keep their order. A box is suppressed where its IoU with a better kept box is
 * above `threshold`, which is at least 0.
 * @see torchvision `nms`.
 */
export function nonMaximumSuppression(
  boxes: Boxes,
  scores: Float32Array,
  threshold: number,
  limit: number = Number.POSITIVE_INFINITY,
): number[] {
  const order = sortByScore(scores);
  const sorted = gatherBoxes(boxes, order);
  const open = order.length < FEW || order.length > MOST_COVERED ? coverPlainly : openCoverage;
  const { isCovered, coverBy } = open(sorted, boxAreas(sorted), threshold);
  const kept: number[] = [];
  for (let i = 0; i < order.length && kept.length < limit; i++) {
    if (isCovered(i)) continue;
    kept.push(order[i] as number);
    coverBy(i);
  }
  return kept;
}

/**
 * Non-maximum suppression within each group (class or pyramid level). Returns the best `limit` kept boxes of all groups, by falling score.
 * @see torchvision `batched_nms`, its variant without coordinate offsets, which round differently.
 */
export function batchedNonMaximumSuppression(
  boxes: Boxes,
  scores: Float32Array,
  groups: ArrayLike<number>,
  threshold: number,
  limit: number = Number.POSITIVE_INFINITY,
): number[] {
  const kept: number[] = [];
  for (const members of membersOf(groups).values()) {
    const own = Float32Array.from(members, i => at(scores, i));
    for (const i of nonMaximumSuppression(gatherBoxes(boxes, members), own, threshold, limit)) kept.push(members[i] as number);
  }
  const sorted = kept.sort((a, b) => at(scores, b) - at(scores, a) || a - b);
  return sorted.length > limit ? sorted.slice(0, limit) : sorted;
}

function membersOf(groups: ArrayLike<number>): ReadonlyMap<number, number[]> {
  const members = new Map<number, number[]>();
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i] as number;
    const list = members.get(group);
    if (list === undefined) members.set(group, [i]);
    else list.push(i);
  }
  return members;
}
