/** Selects objects among decoded candidates, and maps them back to the original image. */

import type { DetectedObjects, ObjectMasks } from '../../detector/detector.js';
import { type Boxes, clipBoxes, gatherBoxes } from '../../geometry/boxes.js';
import { batchedNonMaximumSuppression, nonMaximumSuppression } from '../../geometry/nms.js';
import { topK } from '../../geometry/top-k.js';
import type { Placement } from '../../image/placement.js';
import { pasteMask } from '../../masks/paste-mask.js';
import type { CandidateMasks, Candidates } from './decoder/candidates.js';
import type { Category, Selection } from './recipe.js';

/** Objects in the original image by falling score, labeled by category id. Boxes that are not finite are ignored. */
export function selectObjects(
  found: Candidates,
  placement: Placement,
  { selection, categories }: { readonly selection: Selection; readonly categories: readonly Category[] },
): DetectedObjects {
  const kept = suppress(found, takeBest(found, selection), selection).slice(0, selection.perImage);
  const corners = mapBoxesBack(gatherBoxes(found.boxes, kept), placement);
  const whole = found.corners === 'inclusive' ? corners.map((value, i) => (i % 4 < 2 ? value : value + 1)) : corners;
  return {
    size: placement.original,
    boxes: selection.clip === 'image' ? clipBoxes(whole, placement.original) : whole,
    scores: Float32Array.from(kept, i => found.scores[i] as number),
    labels: Int32Array.from(kept, i => categories[found.classes[i] as number]?.id ?? 0),
    masks: found.masks === undefined ? { kind: 'none' } : pasteMasks(found.masks, kept, corners, placement),
  };
}

/** The best `candidates` with finite boxes and scores above the threshold, by falling score. */
function takeBest({ boxes, scores }: Candidates, { scoreThreshold, candidates }: Selection): readonly number[] {
  const least = Math.fround(scoreThreshold);
  const valid: number[] = [];
  for (let i = 0; i < scores.length; i++)
    if ((scores[i] as number) > least && boxes.subarray(4 * i, 4 * i + 4).every(Number.isFinite)) valid.push(i);
  const order = topK(
    Float32Array.from(valid, i => scores[i] as number),
    candidates,
  );
  return Array.from(order, i => valid[i] as number);
}

function suppress(found: Candidates, best: readonly number[], { nms }: Selection): readonly number[] {
  if (nms === 'none') return best;
  const boxes = gatherBoxes(found.boxes, best);
  const scores = Float32Array.from(best, i => found.scores[i] as number);
  const kept =
    nms.classes === 'each'
      ? batchedNonMaximumSuppression(
          boxes,
          scores,
          Int32Array.from(best, i => found.classes[i] as number),
          nms.threshold,
        )
      : nonMaximumSuppression(boxes, scores, nms.threshold);
  return kept.map(i => best[i] as number);
}

function mapBoxesBack(boxes: Boxes, { left, top, scaleX, scaleY }: Placement): Boxes {
  return boxes.map((value, i) => (i % 2 === 0 ? (value - left) / scaleX : (value - top) / scaleY));
}

function pasteMasks(
  { side, data, threshold }: CandidateMasks,
  kept: readonly number[],
  boxes: Boxes,
  { original }: Placement,
): ObjectMasks {
  const masks = kept.map((candidate, i) =>
    pasteMask(data.subarray(candidate * side * side, (candidate + 1) * side * side), boxes.subarray(4 * i, 4 * i + 4), {
      size: side,
      threshold,
      image: original,
    }),
  );
  return { kind: 'runs', masks };
}
