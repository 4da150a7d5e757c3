/** Reads candidate objects from the network's maps: class probabilities, decoded boxes and mask coefficients of priors above the score threshold. */
import { getDefined } from '../../../base/invariant.js';
import { softmaxRows } from '../../detector/activations.js';
import { getPartValue, type PartValuesByName } from '../../detector/part-runner.js';
import type { Boxes } from '../../geometry/boxes.js';
import { countClasses, countPriors, type YolactConfig } from './config.js';
import type { YolactLevel, YolactRecipe } from './recipe.js';

/** In the order of the priors. */
export interface Candidates {
  /** Relative to the image: x1 y1 x2 y2, not clipped. */
  readonly boxes: Boxes;
  /** [candidates, classes], the background (class 0) included. */
  readonly probabilities: Float32Array;
  readonly classes: number;
  /** [candidates, coefficients], after tanh. */
  readonly coefficients: Float32Array;
}

const { fround, exp, tanh } = Math;

/** The maps and priors of one level. */
interface Level {
  readonly area: number;
  /** Priors per cell. */
  readonly shapes: number;
  readonly boxes: Float32Array;
  readonly classes: Float32Array;
  readonly coefficients: Float32Array;
  readonly priors: Float32Array;
}

/**
 * @param values  outputs of the network, before permute, softmax and tanh.
 * @param priors  per level: see `makePriors`.
 * @throws DetectionError `part-values`.
 * @see dbolya/yolact Detect.detect.
 */
export function findCandidates(
  values: PartValuesByName,
  { levels, prototypes }: Pick<YolactRecipe, 'levels' | 'prototypes'>,
  config: YolactConfig,
  priors: readonly Float32Array[],
): Candidates {
  const classes = countClasses(config);
  const found = { boxes: [] as number[], probabilities: [] as Float32Array[], coefficients: [] as Float32Array[] };
  for (const [index, entry] of levels.entries()) {
    const level = readLevel(values, entry, {
      classes,
      coefficients: prototypes.channels,
      shapes: countPriors(config.priors, index),
      priors: getDefined(priors[index], `the priors of level ${index}`),
    });
    for (const prior of findLikely(level, classes, config.detection.scoreThreshold)) {
      const row = softmaxRows(gather(level.classes, level, prior, classes), classes);
      if (!(largest(row) > fround(config.detection.scoreThreshold))) continue;
      found.probabilities.push(row);
      found.boxes.push(...decode(gather(level.boxes, level, prior, 4), level.priors.subarray(4 * prior, 4 * prior + 4), config));
      found.coefficients.push(gather(level.coefficients, level, prior, prototypes.channels).map(tanh));
    }
  }
  return {
    boxes: Float32Array.from(found.boxes),
    probabilities: concatenate(found.probabilities, classes),
    classes,
    coefficients: concatenate(found.coefficients, prototypes.channels),
  };
}

function readLevel(
  values: PartValuesByName,
  { height, width, ...names }: YolactLevel,
  counts: { classes: number; coefficients: number; shapes: number; priors: Float32Array },
): Level {
  const { shapes, priors } = counts;
  const read = (name: string, each: number): Float32Array => getPartValue(values, name, [1, shapes * each, height, width]);
  return {
    area: height * width,
    shapes,
    boxes: read(names.boxes, 4),
    classes: read(names.classes, counts.classes),
    coefficients: read(names.coefficients, counts.coefficients),
    priors,
  };
}

/**
 * Priors whose best class may exceed the threshold, in their order. The probability is at most that of the softmax over the best class and the
 * background only, which needs no sum over all classes. The margin covers rounding.
 */
function* findLikely({ classes: logits, area, shapes }: Level, classes: number, threshold: number): Generator<number> {
  const margin = 1e-3;
  const best = new Float32Array(shapes * area).fill(Number.NEGATIVE_INFINITY);
  for (let shape = 0; shape < shapes; shape++)
    for (let label = 1; label < classes; label++) {
      const from = (shape * classes + label) * area;
      const to = shape * area;
      for (let cell = 0; cell < area; cell++) {
        const logit = logits[from + cell] as number;
        if (logit > (best[to + cell] as number)) best[to + cell] = logit;
      }
    }
  for (let cell = 0; cell < area; cell++)
    for (let shape = 0; shape < shapes; shape++) {
      const background = logits[shape * classes * area + cell] as number;
      if (1 / (1 + exp(background - (best[shape * area + cell] as number))) > threshold * (1 - margin)) yield cell * shapes + shape;
    }
}

/** The `count` values of one prior, from a map with the channels of all shapes one after another. */
function gather(map: Float32Array, { area, shapes }: Level, prior: number, count: number): Float32Array {
  const cell = Math.floor(prior / shapes);
  const from = (prior % shapes) * count * area + cell;
  return Float32Array.from({ length: count }, (_, channel) => map[from + channel * area] as number);
}

/** @see dbolya/yolact box_utils.decode, without use_yolo_regressors. */
function decode(deltas: Float32Array, prior: Float32Array, { priors }: YolactConfig): number[] {
  const [dx = 0, dy = 0, dw = 0, dh = 0] = deltas;
  const [x = 0, y = 0, w = 0, h = 0] = prior;
  const [center, size] = [fround(priors.variances[0] ?? 0), fround(priors.variances[1] ?? 0)];
  const side = (delta: number, of: number): number => fround(of * fround(exp(fround(delta * size))));
  const low = (delta: number, at: number, of: number, extent: number): number =>
    fround(fround(at + fround(fround(delta * center) * of)) - extent / 2);
  const [width, height] = [side(dw, w), side(dh, h)];
  const [left, top] = [low(dx, x, w, width), low(dy, y, h, height)];
  return [left, top, fround(left + width), fround(top + height)];
}

/** The largest probability without the background. */
function largest(row: Float32Array): number {
  let most = 0;
  for (let label = 1; label < row.length; label++) most = Math.max(most, row[label] as number);
  return most;
}

function concatenate(rows: readonly Float32Array[], size: number): Float32Array {
  const joined = new Float32Array(rows.length * size);
  for (const [index, row] of rows.entries()) joined.set(row, index * size);
  return joined;
}
