/** Resampling with the linear, cubic and area filters. */
import { resamplePlane } from '../../../../src/detection/image/resample.js';
import type { Sampling } from '../../../../src/detection/image/resample-axis.js';

const PILLOW: Sampling = { filter: 'linear', antialias: true, rounding: 'bytes' };
const OPENCV: Sampling = { filter: 'linear', antialias: false, rounding: 'bytes' };

function line(values: readonly number[], to: number, sampling: Sampling): number[] {
  return [...resamplePlane(Float32Array.from(values), { height: 1, width: values.length }, { height: 1, width: to }, sampling)];
}

describe('resampling', () => {
  // By hand, from the documented kernels: a triangle of half-width 2 over 6 pixels at centres 1 and 3 and 5.
  it('antialias widens the triangle filter, and weights at the borders sum to one', () => {
    // Half-width 2; weights ¼ ¾ ¾ ¼ around the centre 3, and ¾ ¾ ¼ of 1¾ at the ends.
    const found = line([0, 0, 80, 80, 0, 0], 3, { ...PILLOW, rounding: 'none' });
    for (const [i, wanted] of [80 / 7, 60, 80 / 7].entries()) expect(found[i]).toBeCloseTo(wanted, 4);
    expect(line([0, 0, 80, 80, 0, 0], 3, PILLOW)).toEqual([11, 60, 11]);
  });

  it('without antialias only the two neighbors of the center count, at any factor', () => {
    expect(line([10, 20, 200, 200, 30, 50], 2, OPENCV)).toEqual([20, 30]);
  });

  it('cubic: weights halfway are −0.09375 and 0.59375, and with antialias a quarter off 0.2266 and −0.0234', () => {
    const step = [0, 0, 0, 0, 128, 128, 128, 128];
    // Output 1 of 4 lies halfway between 2 and 3, and sees 1 … 4; output 7 of 16 at 3.25 sees 2 … 5.
    expect(line(step, 4, { filter: 'cubic', antialias: false, rounding: 'none' })[1]).toBe(128 * -0.09375);
    expect(line(step, 16, { filter: 'cubic', antialias: true, rounding: 'none' })[7]).toBeCloseTo(128 * (0.2265625 - 0.0234375), 4);
  });

  it('area averages the covered pixels, and rounds half to even', () => {
    expect(line([0, 10, 20, 30, 40, 51], 3, { filter: 'area', antialias: false, rounding: 'none' })).toEqual([5, 25, 45.5]);
    expect(line([0, 10, 20, 30, 40, 51], 3, { filter: 'area', antialias: false, rounding: 'bytes' })).toEqual([5, 25, 46]);
    expect(line([0, 30, 60], 2, { filter: 'area', antialias: false, rounding: 'none' })).toEqual([10, 50]);
  });

  it('area enlarges by repeating pixels, with one interpolated pixel between them', () => {
    expect(line([0, 100], 4, { filter: 'area', antialias: false, rounding: 'none' })).toEqual([0, 0, 100, 100]);
    expect(line([0, 100], 3, { filter: 'area', antialias: false, rounding: 'none' })).toEqual([0, 50, 100]);
  });

  it('linear bytes are truncated between the passes, as in 16-bit multiplications, except at exact halves of both sides', () => {
    const column = (values: readonly number[], to: number) => [
      ...resamplePlane(Float32Array.from(values), { height: values.length, width: 1 }, { height: to, width: 1 }, OPENCV),
    ];
    // 12 · 0.6 + 11 · 0.4 = 11.6; with weights 1229 and 819 of 2048: ⌊12 · 128 · 1229 / 65536⌋ + ⌊11 · 128 · 819 / 65536⌋ = 28 + 17, and (45 + 2) >> 2 = 11.
    expect(column([12, 11, 50], 5)[1]).toBe(11);
    expect([...resamplePlane(Float32Array.of(0, 1, 1, 0), { height: 2, width: 2 }, { height: 1, width: 1 }, OPENCV)]).toEqual([1]);
  });

  it('cubic overshoot is clipped to 0 … 255', () => {
    const values = line([0, 0, 255, 255, 0, 0], 12, { filter: 'cubic', antialias: false, rounding: 'bytes' });
    expect(Math.min(...values)).toBe(0);
    expect(Math.max(...values)).toBe(255);
  });

  it.each([1, 2, 3, 7])('a constant plane of %i pixels stays constant at any size', from => {
    for (const filter of ['linear', 'cubic', 'area'] as const)
      for (const antialias of [false, true])
        for (const to of [1, 2, 5, 9])
          expect(line(Array(from).fill(77), to, { filter, antialias, rounding: 'bytes' })).toEqual(Array(to).fill(77));
  });
});
