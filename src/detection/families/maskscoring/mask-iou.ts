/** Input of the MaskIoU head for each mask, and mask scores from its output. */
import { invariant } from '../../../base/invariant.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';

/** Per object, a square grid of probabilities over its box. */
interface Masks {
  readonly side: number;
  /** [objects, side, side] */
  readonly data: Float32Array;
}

/**
 * Max-pools the masks to half their side: float32 [objects, 1, side / 2, side / 2].
 * @see torch max_pool2d with kernel 2 and stride 2.
 */
export function poolMasks({ side, data }: Masks): Tensor<'float32'> {
  invariant(side % 2 === 0, `a mask of ${side}×${side} cannot be halved`);
  const half = side / 2;
  const objects = data.length / (side * side);
  const pooled = new Float32Array(objects * half * half);
  let at = 0;
  for (let object = 0; object < objects; object++) {
    for (let row = 0; row < half; row++) {
      let above = (object * side + 2 * row) * side;
      for (let column = 0; column < half; column++, above += 2) {
        const below = above + side;
        pooled[at++] = Math.max(data[above] as number, data[above + 1] as number, data[below] as number, data[below + 1] as number);
      }
    }
  }
  return makeTensor('float32', [objects, 1, half, half], pooled);
}

/**
 * The mask score of each object: its class score times the IoU that the head predicts for its class, in float32. As in the original, the IoU is not
 * clamped to 0…1, because only the order matters.
 *
 * @param ious [objects, classes]
 * @see zjhuang22/maskscoring_rcnn MaskIoUPostProcessor.
 */
export function scoreMasks(scores: Float32Array, labels: Int32Array, ious: Float32Array, classes: number): Float32Array {
  return scores.map((score, index) => score * (ious[index * classes + (labels[index] as number)] as number));
}
