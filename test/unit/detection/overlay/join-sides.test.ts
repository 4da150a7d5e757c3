/** Joining of two images side by side. */
import type { RgbImage } from '../../../../src/detection/image/decode-image.js';
import { joinSides } from '../../../../src/detection/overlay/join-sides.js';

const plain = (width: number, height: number, value: number): RgbImage => ({
  width,
  height,
  data: new Uint8Array(3 * width * height).fill(value),
});

it('both are complete, with white between them and below the lower one', () => {
  const { width, height, data } = joinSides(plain(2, 3, 10), plain(1, 2, 20));
  expect([width, height]).toEqual([11, 3]);
  const rows = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => data[3 * (y * width + x)]));
  const white = new Array<number>(8).fill(255);
  expect(rows).toEqual([
    [10, 10, ...white, 20],
    [10, 10, ...white, 20],
    [10, 10, ...white, 255],
  ]);
});
