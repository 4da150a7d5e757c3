/** Region proposals from the backbone's outputs. Source: torchvision RegionProposalNetwork.filter_proposals at test time. */
import { sigmoid } from '../../detector/activations.js';
import { getPartValue, type PartValuesByName } from '../../detector/part-runner.js';
import { makeAnchorsAt } from '../../geometry/anchors.js';
import { decodeBoxes } from '../../geometry/box-coder.js';
import { type Boxes, clipBoxes, findLargeBoxes, gatherBoxes } from '../../geometry/boxes.js';
import { batchedNonMaximumSuppression } from '../../geometry/nms.js';
import { topK } from '../../geometry/top-k.js';
import type { FittedSizes } from '../../image/fit-image.js';
import type { ImageSize } from '../../image/image-size.js';
import type { DetectorConfig } from './config.js';
import { sizeOfLevel } from './make-recipe.js';
import type { MaskRcnnRecipe, PyramidLevel } from './recipe.js';

/** Minimum side of a proposal, in pixels. */
const MIN_SIDE = 1e-3;

/** The RPN's deltas are not scaled. */
const UNIT_WEIGHTS = [1, 1, 1, 1] as const;

export interface Proposals {
  /** In pixels of the resized image, by falling score. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
}

/** Sizes of the resized image, of the area that anchors cover, and of the input. */
export type ImagePlace = Pick<FittedSizes, 'resized' | 'covered' | 'padded'>;

/**
 * The proposals of one image from the backbone's outputs (before permute and reshape). Per level, the best `preNmsTopN` anchors in `covered` are decoded
 * and clipped to `resized`. Then non-maximum suppression within each level, and the best `postNmsTopN` of all levels.
 */
export function findProposals(values: PartValuesByName, place: ImagePlace, recipe: MaskRcnnRecipe, config: DetectorConfig): Proposals {
  const levels = recipe.levels.map((level, index) => readLevel(values, level, { index, place, config }));
  const boxes = concatenate(levels.map(level => level.boxes));
  const scores = concatenate(levels.map(level => level.scores));
  const groups = levels.flatMap((level, index) => Array.from(level.scores, () => index));
  const kept = batchedNonMaximumSuppression(boxes, scores, groups, config.rpn.nmsThreshold, config.rpn.postNmsTopN);
  return { boxes: gatherBoxes(boxes, kept), scores: Float32Array.from(kept, index => scores[index] as number) };
}

interface LevelJob {
  readonly index: number;
  readonly place: ImagePlace;
  readonly config: DetectorConfig;
}

/** The best anchors of a level, decoded to boxes. */
function readLevel(
  values: PartValuesByName,
  level: PyramidLevel,
  { index, place: { resized, covered, padded }, config }: LevelJob,
): Proposals {
  const [{ height, width }, whole] = [sizeOfLevel(level, covered), sizeOfLevel(level, padded)];
  const [sizes, aspectRatios] = [config.anchors.sizes[index] ?? [], config.anchors.aspectRatios];
  const perCell = sizes.length * aspectRatios.length;
  const read = (name: string, channels: number): Float32Array =>
    cropMaps(getPartValue(values, name, [1, channels, whole.height, whole.width]), whole, { height, width });
  const logits = toCellsFirst(read(level.objectness, perCell), height * width);
  const deltas = read(level.deltas, 4 * perCell);
  const best = topK(logits, config.rpn.preNmsTopN);
  const anchors = makeAnchorsAt(best, { sizes, aspectRatios, height, width }, covered);
  const boxes = clipBoxes(decodeBoxes(takeDeltas(deltas, best, perCell, height * width), anchors, UNIT_WEIGHTS), resized);
  const scores = sigmoid(Float32Array.from(best, anchor => logits[anchor] as number));
  const kept = findLargeBoxes(boxes, MIN_SIDE).filter(row => (scores[row] as number) >= config.rpn.scoreThreshold);
  return { boxes: gatherBoxes(boxes, kept), scores: Float32Array.from(kept, row => scores[row] as number) };
}

/** Crops every map to its upper left corner. */
function cropMaps(maps: Float32Array, from: ImageSize, to: ImageSize): Float32Array {
  if (from.height === to.height && from.width === to.width) return maps;
  const count = maps.length / (from.height * from.width);
  const cropped = new Float32Array(count * to.height * to.width);
  for (let map = 0, at = 0; map < count; map++) {
    for (let row = 0; row < to.height; row++, at += to.width) {
      const start = (map * from.height + row) * from.width;
      cropped.set(maps.subarray(start, start + to.width), at);
    }
  }
  return cropped;
}

/** Transposes an RPN output [1, A · k, h, w] to [h · w, A · k], the order of the anchors. */
function toCellsFirst(values: Float32Array, area: number): Float32Array {
  const rows = values.length / area;
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let cell = 0, to = row; cell < area; cell++, to += rows) turned[to] = values[row * area + cell] as number;
  }
  return turned;
}

/** The four deltas of each anchor in `best`, from [1, A · 4, h, w]. */
function takeDeltas(values: Float32Array, best: Int32Array, perCell: number, area: number): Float32Array {
  const taken = new Float32Array(4 * best.length);
  for (let i = 0; i < best.length; i++) {
    const anchor = best[i] as number;
    const from = (anchor % perCell) * 4 * area + Math.floor(anchor / perCell);
    for (let side = 0; side < 4; side++) taken[4 * i + side] = values[from + side * area] as number;
  }
  return taken;
}

function concatenate(arrays: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}
