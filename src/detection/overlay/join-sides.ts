/** Joins two images side by side with a white gap. */
import type { RgbImage } from '../image/decode-image.js';

const GAP = 8;

/** Places `right` to the right of `left`. The area below the lower image is white. */
export function joinSides(left: RgbImage, right: RgbImage): RgbImage {
  const [width, height] = [left.width + GAP + right.width, Math.max(left.height, right.height)];
  const data = new Uint8Array(3 * width * height).fill(255);
  const place = (picture: RgbImage, from: number): void => {
    for (let y = 0; y < picture.height; y++)
      data.set(picture.data.subarray(3 * y * picture.width, 3 * (y + 1) * picture.width), 3 * (y * width + from));
  };
  place(left, 0);
  place(right, left.width + GAP);
  return { width, height, data };
}
