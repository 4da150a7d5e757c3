/** The class of each pixel, from scores with classes first or last. */
import type { Placement } from '../../../../src/detection/image/placement.js';
import { findPixelClasses } from '../../../../src/detection/segmentation/classes-of-pixels.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';

/** The whole image fills an input of its size. */
const placement = (height: number, width: number): Placement => ({
  original: { height, width },
  scaled: { height, width },
  input: { height, width },
  left: 0,
  top: 0,
  scaleX: 1,
  scaleY: 1,
});

/** Scores of one class are 1 where `classes` has it, else 0. */
function scoresOf(classes: readonly number[], count: number, layout: 'first' | 'last'): Float32Array {
  const scores = new Float32Array(count * classes.length);
  for (const [cell, label] of classes.entries()) scores[layout === 'first' ? label * classes.length + cell : cell * count + label] = 1;
  return scores;
}

const CLASSES = [0, 1, 2, 3, 3, 2, 1, 0];

describe('classes of pixels', () => {
  it('are the same from scores with classes first and last', () => {
    const first = makeTensor('float32', [1, 4, 2, 4], scoresOf(CLASSES, 4, 'first'));
    const last = makeTensor('float32', [1, 2, 4, 4], scoresOf(CLASSES, 4, 'last'));
    expect([...findPixelClasses(first, 'y', placement(2, 4)).classes]).toEqual(CLASSES);
    expect(findPixelClasses(last, 'y', placement(2, 4))).toMatchObject({ of: 4, classes: Int32Array.from(CLASSES) });
  });

  it('are last where the axes before them are a half of the input', () => {
    const last = makeTensor('float32', [1, 2, 4, 4], scoresOf(CLASSES, 4, 'last'));
    const { classes } = findPixelClasses(last, 'y', placement(4, 8));
    expect([...classes.subarray(0, 8)]).toEqual([0, 0, 0, 1, 2, 2, 3, 3].map((label, index) => (index === 2 ? expect.any(Number) : label)));
  });

  it('are first where both readings fit', () => {
    const square = makeTensor('float32', [1, 4, 4, 4], scoresOf(Array<number>(16).fill(2), 4, 'first'));
    expect(new Set(findPixelClasses(square, 'y', placement(4, 4)).classes)).toEqual(new Set([2]));
  });
});
