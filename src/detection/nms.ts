/** Which boxes stay where several cover one object? Greedy non-maximum suppression. */
import { type Boxes, boxAreas, boxIou, gatherBoxes } from './boxes.js';
import { sortByScore } from './top-k.js';

const at = (values: Float32Array, index: number): number => values[index] as number;

/**
 * Indices of the boxes that stay, by descending score (equal scores in their order). A box goes where its IoU with a better one that stays is
 * above `threshold`.
 * @see torchvision `nms`.
 */
export function nonMaximumSuppression(boxes: Boxes, scores: Float32Array, threshold: number): number[] {
  const order = sortByScore(scores);
  const sorted = gatherBoxes(boxes, order);
  const areas = boxAreas(sorted);
  const gone = new Uint8Array(order.length);
  const kept: number[] = [];
  for (let i = 0; i < order.length; i++) {
    if (gone[i] === 1) continue;
    kept.push(order[i] as number);
    for (let j = i + 1; j < order.length; j++) {
      if (gone[j] === 0 && boxIou(sorted, at(areas, i), i, sorted, at(areas, j), j) > threshold) gone[j] = 1;
    }
  }
  return kept;
}

/**
 * Non-maximum suppression within each group (class or pyramid level) alone; what stays of all groups, by descending score.
 * @see torchvision `batched_nms`, in its form without shifted coordinates, which round differently.
 */
export function batchedNonMaximumSuppression(boxes: Boxes, scores: Float32Array, groups: ArrayLike<number>, threshold: number): number[] {
  const kept: number[] = [];
  for (const members of membersOf(groups).values()) {
    const within = nonMaximumSuppression(
      gatherBoxes(boxes, members),
      Float32Array.from(members, i => at(scores, i)),
      threshold,
    );
    for (const i of within) kept.push(members[i] as number);
  }
  return kept.sort((a, b) => at(scores, b) - at(scores, a) || a - b);
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
