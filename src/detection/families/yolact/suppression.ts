/** YOLACT's non-maximum suppressions: fast, fast across classes, and traditional. */
import { assertNever } from '../../../base/assert-never.js';
import { type Boxes, boxAreas, boxIou } from '../../geometry/boxes.js';
import { sortByScore, topK } from '../../geometry/top-k.js';
import type { Candidates } from './candidates.js';
import type { DetectionConfig } from './config.js';

/** Selected pairs of candidate and class, by falling score. */
export interface Selection {
  /** Indices of candidates. A candidate may be selected for several classes. */
  readonly candidates: Int32Array;
  /** 1 … classes − 1. */
  readonly classes: Int32Array;
  readonly scores: Float32Array;
}

/** `side` is the side of the network's input in pixels, the unit of the traditional suppression. */
export function selectCandidates(candidates: Candidates, config: DetectionConfig, side: number): Selection {
  switch (config.nms) {
    case 'fast':
      return perClassFast(candidates, config);
    case 'fast-cross-class':
      return acrossClasses(candidates, config);
    case 'traditional':
      return perClassGreedy(
        candidates,
        candidates.boxes.map(value => value * side),
        config,
      );
    default:
      return assertNever(config.nms);
  }
}

const { fround } = Math;

/**
 * Per class, keeps those of the `topK` best whose IoU with every better one is at most the threshold, then the best of all classes. Suppressed boxes
 * also suppress others: the original takes the column maximum of an IoU matrix.
 *
 * This implementation visits pairs of box and class by falling score until enough are kept. Each is compared only with the better ones of its class.
 * @see Bolya et al., YOLACT, section 3.3; dbolya/yolact Detect.fast_nms, without its second threshold.
 */
function perClassFast({ boxes, probabilities, classes }: Candidates, config: DetectionConfig): Selection {
  const count = probabilities.length / classes;
  const scores = byClass(probabilities, classes);
  const areas = boxAreas(boxes);
  const threshold = fround(config.nmsThreshold);
  const seen = Array.from({ length: classes - 1 }, (): number[] => []);
  const kept: number[] = [];
  for (const pair of byFallingScore(scores, config.maxDetections)) {
    const better = seen[Math.floor(pair / count)] as number[];
    if (better.length >= config.topK) continue;
    const box = pair % count;
    if (!better.some(other => boxIou(boxes, areas[other] as number, other, boxes, areas[box] as number, box) > threshold)) kept.push(pair);
    better.push(box);
    if (kept.length === config.maxDetections) break;
  }
  return pickPairs(kept, scores, count);
}

/** Generates indices by falling score in growing batches, because the first few usually suffice. */
function* byFallingScore(scores: Float32Array, wanted: number): Generator<number> {
  let given = 0;
  for (let count = 4 * wanted; given < scores.length; count *= 4) {
    const order = topK(scores, count);
    for (; given < order.length; given++) yield order[given] as number;
  }
}

/** Every candidate has only its best class, and only `topK` limits the result. @see dbolya/yolact Detect.cc_fast_nms. */
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
  const kept = Int32Array.from(suppressAcross(candidates.boxes, scores, config));
  return { candidates: kept, classes: kept.map(index => labels[index] ?? 0), scores: Float32Array.from(kept, index => scores[index] ?? 0) };
}

/** Fast suppression over all candidates, by falling score. */
function suppressAcross(boxes: Boxes, scores: Float32Array, { topK: count, nmsThreshold }: DetectionConfig): number[] {
  const order = [...topK(scores, count)];
  const areas = boxAreas(boxes);
  const threshold = fround(nmsThreshold);
  const covers = (better: number, box: number): boolean =>
    boxIou(boxes, areas[better] as number, better, boxes, areas[box] as number, box) > threshold;
  return order.filter((box, index) => !order.slice(0, index).some(better => covers(better, box)));
}

/** Greedy suppression per class, then the best of all classes. @see dbolya/yolact Detect.traditional_nms. */
function perClassGreedy({ probabilities, classes }: Candidates, pixels: Boxes, config: DetectionConfig): Selection {
  const count = probabilities.length / classes;
  const scores = byClass(probabilities, classes);
  const pairs: number[] = [];
  for (let first = 0; first < scores.length; first += count)
    for (const box of suppressGreedily(pixels, scores.subarray(first, first + count), config)) pairs.push(first + box);
  const best = topK(
    Float32Array.from(pairs, pair => scores[pair] as number),
    config.maxDetections,
  );
  return pickPairs(
    [...best].map(index => pairs[index] as number),
    scores,
    count,
  );
}

/**
 * Greedy suppression of the candidates of one class above the score threshold: removes a candidate whose IoU with a better kept one reaches the
 * threshold. Boxes include their last pixel, so that a side has the length x2 − x1 + 1.
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

/** Transposes probabilities to [classes − 1, candidates], without the background. */
function byClass(probabilities: Float32Array, classes: number): Float32Array {
  const count = probabilities.length / classes;
  const scores = new Float32Array((classes - 1) * count);
  for (let label = 1; label < classes; label++)
    for (let index = 0; index < count; index++) scores[(label - 1) * count + index] = probabilities[index * classes + label] as number;
  return scores;
}

/** `pairs` are indices into `scores`, the result of `byClass` for `count` candidates. */
function pickPairs(pairs: readonly number[], scores: Float32Array, count: number): Selection {
  return {
    candidates: Int32Array.from(pairs, pair => pair % count),
    classes: Int32Array.from(pairs, pair => Math.floor(pair / count) + 1),
    scores: Float32Array.from(pairs, pair => scores[pair] as number),
  };
}
