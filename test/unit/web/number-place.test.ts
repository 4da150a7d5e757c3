/** Numbers of objects stand whole in the picture, also where a box lies at its edge or beyond. */
import { placeNumber } from '../../../src/web/page/results/number-place.js';

const PICTURE = { width: 256, height: 192 };

it('is the upper left corner of the box', () => {
  expect(placeNumber(3, [20, 30, 50, 60], PICTURE, 1)).toEqual({ x: 22, y: 40, size: 10 });
});

it.each<[string, readonly [number, number, number, number]]>([
  ['right edge', [254, 30, 2, 60]],
  ['bottom', [20, 190, 50, 2]],
  ['corner, beyond the picture', [300, 200, 5, 5]],
  ['left and top, beyond the picture', [-40, -40, 50, 60]],
])('lies in the picture at the %s', (_where, box) => {
  const { x, y, size } = placeNumber(57, box, PICTURE, 1);
  expect([x >= 0, x + 14 <= PICTURE.width, y - size >= 0, y <= PICTURE.height]).toEqual([true, true, true, true]);
});
