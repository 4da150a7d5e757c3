/** Masks of found objects at the size of the image. */
import { getDefined } from '../../base/invariant.js';
import { pasteMask } from '../masks/paste-mask.js';
import type { Rle } from '../masks/rle.js';
import type { DetectedObjects } from './detector.js';

/** The mask of object `index`; undefined where the detector finds only boxes. */
export function findObjectMask({ masks, boxes, size }: DetectedObjects, index: number): Rle | undefined {
  switch (masks.kind) {
    case 'none':
      return undefined;
    case 'runs':
      return getDefined(masks.masks[index], `the mask of object ${index}`);
    case 'squares': {
      const { side, data, threshold } = masks;
      const square = data.subarray(index * side * side, (index + 1) * side * side);
      return pasteMask(square, boxes.subarray(4 * index, 4 * index + 4), { size: side, threshold, image: size });
    }
  }
}
