/** Encodes and decodes boxes relative to anchors or proposals, with the parametrization of Faster R-CNN. */
import { type Boxes, countBoxes } from './boxes.js';

/** Divisors of dx, dy, dw, dh. */
export type BoxWeights = readonly number[];

const { fround } = Math;
const at = (values: Float32Array, index: number): number => values[index] as number;

/** Upper limit of dw and dh, so that no side grows by more than a factor of 62.5. */
const LARGEST_LOG_RATIO = fround(Math.log(1000 / 16));

/**
 * Applies `deltas` to `references`. Every operation is rounded to float32.
 *
 * @param deltas     per reference, one or more groups of dx dy dw dh, such as one per class: length = references · groups · 4.
 * @param references the anchors or proposals that the deltas are relative to.
 * @returns          one box per group, in the order of `deltas`; not clipped.
 * @see Ren et al., Faster R-CNN, equation 2; torchvision `BoxCoder.decode_single`.
 */
export function decodeBoxes(deltas: Float32Array, references: Boxes, weights: BoxWeights): Boxes {
  const count = countBoxes(references);
  const groups = count === 0 ? 0 : deltas.length / 4 / count;
  const [wx, wy, ww, wh] = weightsOf(weights);
  const boxes = new Float32Array(deltas.length);
  for (let i = 0; i < count; i++) {
    const [x1, y1] = [at(references, 4 * i), at(references, 4 * i + 1)];
    const width = fround(at(references, 4 * i + 2) - x1);
    const height = fround(at(references, 4 * i + 3) - y1);
    const centerX = fround(x1 + fround(0.5 * width));
    const centerY = fround(y1 + fround(0.5 * height));
    for (let group = 0; group < groups; group++) {
      const to = 4 * (i * groups + group);
      const x = fround(fround(fround(at(deltas, to) / wx) * width) + centerX);
      const y = fround(fround(fround(at(deltas, to + 1) / wy) * height) + centerY);
      const halfWidth = fround(0.5 * fround(growth(at(deltas, to + 2), ww) * width));
      const halfHeight = fround(0.5 * fround(growth(at(deltas, to + 3), wh) * height));
      boxes[to] = x - halfWidth;
      boxes[to + 1] = y - halfHeight;
      boxes[to + 2] = x + halfWidth;
      boxes[to + 3] = y + halfHeight;
    }
  }
  return boxes;
}

/** The inverse of `decodeBoxes`: one group of deltas per reference. Both lists have the same length, and no side may be 0. */
export function encodeBoxes(boxes: Boxes, references: Boxes, weights: BoxWeights): Float32Array {
  const divisors = weightsOf(weights);
  const deltas = new Float32Array(boxes.length);
  for (let i = 0; i < countBoxes(boxes); i++) {
    for (const axis of [0, 1] as const) {
      const [low, high] = [4 * i + axis, 4 * i + 2 + axis];
      const side = fround(at(references, high) - at(references, low));
      const center = fround(at(references, low) + fround(0.5 * side));
      const newSide = fround(at(boxes, high) - at(boxes, low));
      const newCenter = fround(at(boxes, low) + fround(0.5 * newSide));
      deltas[low] = divisors[axis] * fround(fround(newCenter - center) / side);
      deltas[high] = (axis === 0 ? divisors[2] : divisors[3]) * fround(Math.log(fround(newSide / side)));
    }
  }
  return deltas;
}

function growth(delta: number, weight: number): number {
  return fround(Math.exp(Math.min(fround(delta / weight), LARGEST_LOG_RATIO)));
}

function weightsOf(weights: BoxWeights): readonly [number, number, number, number] {
  const [x = 1, y = 1, width = 1, height = 1] = weights;
  return [x, y, width, height];
}
