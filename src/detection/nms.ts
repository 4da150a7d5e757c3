/** Which boxes stay where several cover one object? Greedy non-maximum suppression. */
import { type Boxes, boxAreas, gatherBoxes } from './boxes.js';
import { sortByScore } from './top-k.js';

const { fround } = Math;
const at = (values: Float32Array, index: number): number => values[index] as number;

/**
 * Indices of the boxes that stay, by descending score (equal scores in their order), at most `limit`: the best of those that stay. A box goes where its
 * IoU with a better one that stays is above `threshold`, which is at least 0.
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
  const areas = boxAreas(sorted);
  const gone = new Uint8Array(order.length);
  const kept: number[] = [];
  for (let i = 0; i < order.length && kept.length < limit; i++) {
    if (gone[i] === 1) continue;
    kept.push(order[i] as number);
    markCovered(gone, sorted, areas, i, threshold);
  }
  return kept;
}

/** Marks those after box `i` whose IoU with it, as `boxIou` computes it, is above the threshold. */
function markCovered(gone: Uint8Array, boxes: Boxes, areas: Float32Array, i: number, threshold: number): void {
  const [x1, y1, x2, y2] = [at(boxes, 4 * i), at(boxes, 4 * i + 1), at(boxes, 4 * i + 2), at(boxes, 4 * i + 3)];
  const area = at(areas, i);
  for (let j = i + 1, from = 4 * j; j < gone.length; j++, from += 4) {
    if (gone[j] === 1) continue;
    const width = fround(Math.min(x2, at(boxes, from + 2)) - Math.max(x1, at(boxes, from)));
    if (width <= 0) continue;
    const height = fround(Math.min(y2, at(boxes, from + 3)) - Math.max(y1, at(boxes, from + 1)));
    if (height <= 0) continue;
    const shared = fround(width * height);
    if (fround(shared / fround(fround(area + at(areas, j)) - shared)) > threshold) gone[j] = 1;
  }
}

/**
 * Non-maximum suppression within each group (class or pyramid level) alone; of what stays in all groups the best `limit`, by descending score.
 * @see torchvision `batched_nms`, in its form without shifted coordinates, which round differently.
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
