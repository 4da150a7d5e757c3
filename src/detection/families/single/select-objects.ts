/** Selects objects among decoded candidates, and maps them back to the original image. */

import type { DetectedObjects, ObjectKeypoints, ObjectMasks } from '../../detector/detector.js';
import { type Boxes, clipBoxes, gatherBoxes } from '../../geometry/boxes.js';
import { batchedNonMaximumSuppression, nonMaximumSuppression } from '../../geometry/nms.js';
import { topK } from '../../geometry/top-k.js';
import type { Placement } from '../../image/placement.js';
import { pasteMask } from '../../masks/paste-mask.js';
import type { CandidateKeypoints, Candidates, SquareMasks } from './decoder/candidates.js';
import { assemblePrototypeMasks } from './prototype-masks.js';
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
    masks: makeMasks(found, kept, corners, placement),
    ...(found.keypoints === undefined ? {} : { keypoints: mapPointsBack(found.keypoints, kept, placement) }),
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

function makeMasks({ masks }: Candidates, kept: readonly number[], boxes: Boxes, placement: Placement): ObjectMasks {
  switch (masks?.kind) {
    case undefined:
      return { kind: 'none' };
    case 'squares':
      return pasteMasks(masks, kept, boxes, placement);
    case 'prototypes':
      return { kind: 'runs', masks: assemblePrototypeMasks(masks, kept, boxes, placement) };
  }
}

/** Points of the kept candidates in the original image, in float32 as boxes are. */
function mapPointsBack(
  { count, data }: CandidateKeypoints,
  kept: readonly number[],
  { left, top, scaleX, scaleY }: Placement,
): ObjectKeypoints {
  const own = kept.flatMap(candidate => Array.from(data.subarray(3 * count * candidate, 3 * count * (candidate + 1))));
  const mapped = own.map((value, index) => (index % 3 === 0 ? (value - left) / scaleX : index % 3 === 1 ? (value - top) / scaleY : value));
  return { count, data: Float32Array.from(mapped) };
}

function pasteMasks({ side, data, threshold }: SquareMasks, kept: readonly number[], boxes: Boxes, { original }: Placement): ObjectMasks {
  const masks = kept.map((candidate, i) =>
    pasteMask(data.subarray(candidate * side * side, (candidate + 1) * side * side), boxes.subarray(4 * i, 4 * i + 4), {
      size: side,
      threshold,
      image: original,
    }),
  );
  return { kind: 'runs', masks };
}
