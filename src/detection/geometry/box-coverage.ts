/** Which boxes does a better one cover? The plain code, which defines what the kernel of nms-kernel.ts computes. */
import { type Boxes, boxIou } from './boxes.js';

const at = (values: Float32Array, index: number): number => values[index] as number;

/** Which boxes are covered by better ones that stay? Asked box by box, the best first. */
export interface Coverage {
  isCovered(box: number): boolean;
  /** Box `box` stays: boxes after it whose IoU with it is above the threshold are covered. */
  coverBy(box: number): void;
}

/** Every IoU as `boxIou` computes it. */
export function coverPlainly(boxes: Boxes, areas: Float32Array, threshold: number): Coverage {
  const gone = new Uint8Array(areas.length);
  return {
    isCovered: box => gone[box] === 1,
    coverBy: box => {
      for (let other = box + 1; other < gone.length; other++)
        if (gone[other] === 0 && boxIou(boxes, at(areas, box), box, boxes, at(areas, other), other) > threshold) gone[other] = 1;
    },
  };
}
