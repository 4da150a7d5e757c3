/** Suppression of boxes by better boxes, in plain TypeScript. It defines the results of the kernel in nms-kernel.ts. */
import { type Boxes, boxIou } from './boxes.js';

const at = (values: Float32Array, index: number): number => values[index] as number;

/** State of a suppression. Boxes are sorted by falling score and visited in that order. */
export interface Coverage {
  /** Whether a better box that was kept suppresses `box`. */
  isCovered(box: number): boolean;
  /** Keeps `box`: later boxes whose IoU with it is above the threshold are suppressed. */
  coverBy(box: number): void;
}

/** Computes every IoU with `boxIou`. */
export function coverPlainly(boxes: Boxes, areas: Float32Array, threshold: number): Coverage {
  const suppressed = new Uint8Array(areas.length);
  return {
    isCovered: box => suppressed[box] === 1,
    coverBy: box => {
      for (let other = box + 1; other < suppressed.length; other++)
        if (suppressed[other] === 0 && boxIou(boxes, at(areas, box), box, boxes, at(areas, other), other) > threshold)
          suppressed[other] = 1;
    },
  };
}
