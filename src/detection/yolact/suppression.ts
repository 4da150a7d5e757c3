/** Which candidates are objects, and of which class? YOLACT's non-maximum suppressions: fast, fast across classes, and traditional. */
import { assertNever } from '../../base/assert-never.js';
import { type Boxes, boxAreas, boxIou, gatherBoxes } from '../boxes.js';
import { sortByScore, topK } from '../top-k.js';
import type { Candidates } from './candidates.js';
import type { DetectionConfig } from './config.js';

/** The best first. */
export interface Selection {
  /** Indices of candidates; one may stand under several classes. */
  readonly candidates: Int32Array;
  /** 1 … classes − 1. */
  readonly classes: Int32Array;
  readonly scores: Float32Array;
}

/** `side`: of the network's input, in pixels, in which the traditional suppression measures. */
export function selectCandidates(candidates: Candidates, config: DetectionConfig, side: number): Selection {
  switch (config.nms) {
    case 'fast':
      return best(
        perClass(candidates, scores => suppressFast(candidates.boxes, scores, config)),
        config.maxDetections,
      );
    case 'fast-cross-class':
      return acrossClasses(candidates, config);
    case 'traditional': {
      const pixels = candidates.boxes.map(value => value * side);
      return best(
        perClass(candidates, scores => suppressGreedily(pixels, scores, config)),
        config.maxDetections,
      );
    }
    default:
      return assertNever(config.nms);
  }
}

const { fround } = Math;

/**
 * Of the `topK` best those whose IoU with no better one of them is above the threshold, by falling score. Whether the better one stays is not
 * asked: that is what makes it one pass over the matrix of IoUs.
 * @see Bolya et al., YOLACT, section 3.3; dbolya/yolact Detect.fast_nms, without its second threshold.
 */
function suppressFast(boxes: Boxes, scores: Float32Array, { topK: count, nmsThreshold }: DetectionConfig): number[] {
  const order = topK(scores, count);
  const sorted = gatherBoxes(boxes, order);
  const areas = boxAreas(sorted);
  const threshold = fround(nmsThreshold);
  const covered = (index: number): boolean => {
    for (let better = 0; better < index; better++)
      if (boxIou(sorted, areas[better] as number, better, sorted, areas[index] as number, index) > threshold) return true;
    return false;
  };
  return [...order].filter((_, index) => !covered(index));
}

/** @see dbolya/yolact Detect.cc_fast_nms: every candidate has its best class alone, and only `topK` limits how many stay. */
function acrossClasses(candidates: Candidates, config: DetectionConfig): Selection {
  const { probabilities, classes } = candidates;
  const count = probabilities.length / classes;
  const labels = new Int32Array(count);
  const scores = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const row = probabilities.subarray(index * classes + 1, (index + 1) * classes);
    const [label = 0] = topK(row, 1);
    labels[index] = label + 1;
    scores[index] = row[label] ?? 0;
  }
  const kept = Int32Array.from(suppressFast(candidates.boxes, scores, config));
  return { candidates: kept, classes: kept.map(index => labels[index] ?? 0), scores: Float32Array.from(kept, index => scores[index] ?? 0) };
}

/**
 * Greedy, over the candidates of one class above the score threshold: one goes where its IoU with a better one that stays reaches the threshold.
 * Boxes count their last pixel as inside, so that a side is x2 − x1 + 1 long.
 * @see dbolya/yolact Detect.traditional_nms and utils/cython_nms.pyx.
 */
function suppressGreedily(boxes: Boxes, scores: Float32Array, { scoreThreshold, nmsThreshold }: DetectionConfig): number[] {
  const [least, threshold] = [fround(scoreThreshold), fround(nmsThreshold)];
  const kept: number[] = [];
  for (const index of sortByScore(scores)) {
    if (!((scores[index] as number) > least)) break;
    if (kept.every(better => pixelIou(boxes, better, index) < threshold)) kept.push(index);
  }
  return kept.sort((a, b) => a - b);
}

function pixelIou(boxes: Boxes, i: number, j: number): number {
  const at = (box: number, side: number): number => boxes[4 * box + side] as number;
  const length = (low: number, high: number): number => fround(fround(high - low) + 1);
  const area = (box: number): number => fround(length(at(box, 0), at(box, 2)) * length(at(box, 1), at(box, 3)));
  const overlap = (axis: number): number =>
    Math.max(0, length(Math.max(at(i, axis), at(j, axis)), Math.min(at(i, axis + 2), at(j, axis + 2))));
  const shared = fround(overlap(0) * overlap(1));
  return fround(shared / fround(fround(area(i) + area(j)) - shared));
}

/** What `suppress` leaves of each class but the background, one class after the other. */
function perClass({ probabilities, classes }: Candidates, suppress: (scores: Float32Array) => readonly number[]): Selection {
  const kept: { candidate: number; label: number; score: number }[] = [];
  const scores = new Float32Array(probabilities.length / classes);
  for (let label = 1; label < classes; label++) {
    for (let index = 0; index < scores.length; index++) scores[index] = probabilities[index * classes + label] as number;
    for (const candidate of suppress(scores)) kept.push({ candidate, label, score: scores[candidate] as number });
  }
  return {
    candidates: Int32Array.from(kept, ({ candidate }) => candidate),
    classes: Int32Array.from(kept, ({ label }) => label),
    scores: Float32Array.from(kept, ({ score }) => score),
  };
}

function best({ candidates, classes, scores }: Selection, count: number): Selection {
  const order = topK(scores, count);
  const pick = (values: Int32Array): Int32Array => order.map(index => values[index] ?? 0);
  return { candidates: pick(candidates), classes: pick(classes), scores: Float32Array.from(order, index => scores[index] ?? 0) };
}
