/** Outlines of masks: filled by the even-odd rule, they restore the mask. */
import { array, assert, boolean, integer, property, tuple } from 'fast-check';
import { type Outline, traceOutlines } from '../../../../src/detection/masks/mask-outline.js';

/** A pixel is set where the ray from its centre to the left crosses an odd number of upright edges. */
function fill(outlines: readonly Outline[], height: number, width: number): number[] {
  const mask = new Array<number>(height * width).fill(0);
  for (const points of outlines) {
    for (let i = 0; i < points.length; i += 2) {
      const [x = 0, y = 0, nextX = 0, nextY = 0] = [0, 1, 2, 3].map(at => points[(i + at) % points.length]);
      if (x !== nextX) continue;
      for (let row = Math.min(y, nextY); row < Math.max(y, nextY); row++) {
        for (let column = x; column < width; column++) mask[row * width + column] = 1 - (mask[row * width + column] ?? 0);
      }
    }
  }
  return mask;
}

describe('traceOutlines', () => {
  it('goes around a rectangle in four corners', () => {
    expect(traceOutlines([0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0], 3, 4)).toEqual([[1, 1, 3, 1, 3, 3, 1, 3]]);
  });

  it('traces a hole separately', () => {
    expect(traceOutlines([1, 1, 1, 1, 0, 1, 1, 1, 1], 3, 3)).toHaveLength(2);
  });

  it('separates pixels that touch only at a corner', () => {
    expect(traceOutlines([1, 0, 0, 1], 2, 2)).toEqual([
      [0, 0, 1, 0, 1, 1, 0, 1],
      [1, 1, 2, 1, 2, 2, 1, 2],
    ]);
  });

  it('has nothing to say of an empty mask', () => {
    expect(traceOutlines(new Uint8Array(6), 2, 3)).toEqual([]);
  });

  it('reproduces every mask from its corners', () => {
    const masks = tuple(integer({ min: 1, max: 9 }), integer({ min: 1, max: 9 })).chain(([height, width]) =>
      tuple(
        array(boolean(), { minLength: height * width, maxLength: height * width }),
        integer({ min: height, max: height }),
        integer({ min: width, max: width }),
      ),
    );
    assert(
      property(masks, ([pixels, height, width]) => {
        const mask = pixels.map(Number);
        const outlines = traceOutlines(mask, height, width);
        expect(fill(outlines, height, width)).toEqual(mask);
        for (const points of outlines) {
          for (let i = 0; i < points.length; i += 2) {
            const [x, y, nextX, nextY, thenX, thenY] = [0, 1, 2, 3, 4, 5].map(at => points[(i + at) % points.length]);
            expect((x === nextX) !== (y === nextY)).toBe(true);
            expect((x === nextX) === (nextX === thenX) && (y === nextY) === (nextY === thenY)).toBe(false);
          }
        }
      }),
    );
  });
});
