/** Which pixels of the image belong to a found object? Its mask, pasted into its box. */
import { pasteMask } from '../masks.js';
import type { Rle } from '../rle.js';
import type { DetectedObjects } from './detector.js';

/** The mask of object `index`, in the image. `threshold`: probability above which a pixel belongs to it. */
export function pasteObject(objects: DetectedObjects, index: number, threshold: number): Rle {
  const { side, data } = objects.masks;
  const box = objects.boxes.subarray(4 * index, 4 * index + 4);
  return pasteMask(data.subarray(index * side * side, (index + 1) * side * side), box, { size: side, threshold, image: objects.size });
}
