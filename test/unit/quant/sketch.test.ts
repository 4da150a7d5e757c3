import fc from 'fast-check';
import { decodeCounts, encodeCounts } from '../../../src/quant/counts-codec.js';
import { addDyadic, formatDyadic, fromDyadic, parseDyadic, toDyadic } from '../../../src/quant/exact-sum.js';
import { chooseRange } from '../../../src/quant/range.js';
import { EMPTY_SKETCH, mergeSketches, type Sketch, sketchTensor } from '../../../src/quant/sketch.js';
import { encodeSketch, readSketchJson, sketchReader } from '../../../src/quant/sketch-codec.js';

const tensor = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 40 }).map(values => Float32Array.from(values));
const mergeAll = (sketches: readonly Sketch[]): Sketch => sketches.reduce(mergeSketches, EMPTY_SKETCH);
const bytes = (sketch: Sketch): string => JSON.stringify(encodeSketch(sketch));

describe('exact sums', () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });

  it('hold every double exactly, through text too', () => {
    fc.assert(
      fc.property(double, x => {
        const restored = fromDyadic(parseDyadic(formatDyadic(toDyadic(x))));
        expect(restored + 0).toBe(x + 0);
      }),
    );
  });

  it('do not depend on the order', () => {
    fc.assert(
      fc.property(double, double, double, (a, b, c) => {
        const [x, y, z] = [toDyadic(a), toDyadic(b), toDyadic(c)];
        expect(addDyadic(addDyadic(x, y), z)).toEqual(addDyadic(x, addDyadic(z, y)));
      }),
    );
    expect(fromDyadic(addDyadic(addDyadic(toDyadic(1e300), toDyadic(1)), toDyadic(-1e300)))).toBe(1);
  });
});

describe('sketch', () => {
  it('samples merged in any order and grouping give the same bytes', () => {
    fc.assert(
      fc.property(fc.array(tensor, { maxLength: 6 }), fc.integer(), (samples, seed) => {
        const sketches = samples.map(sketchTensor);
        const forward = mergeAll(sketches);
        const shuffled = sketches.map((sketch, i) => [Math.sin(seed + i * 12.9898), sketch] as const).sort((a, b) => a[0] - b[0]);
        const half = shuffled.length >> 1;
        const parts = shuffled.map(([, sketch]) => sketch);
        const grouped = mergeSketches(mergeAll(parts.slice(half)), mergeAll(parts.slice(0, half)));
        expect(bytes(grouped)).toBe(bytes(forward));
      }),
    );
  });

  it('a merged histogram is the histogram of all values at once, and counts every value', () => {
    fc.assert(
      fc.property(tensor, tensor, (a, b) => {
        const both = sketchTensor(Float32Array.from([...a, ...b]));
        const merged = mergeSketches(sketchTensor(a), sketchTensor(b));
        expect(merged.histogram).toEqual(both.histogram);
        expect(merged.histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(a.length + b.length);
      }),
    );
  });

  it('bins lie on the grid: at least 1024 and at most 2049 of them up to the largest value', () => {
    const { histogram } = sketchTensor(Float32Array.from([-3, 0, 0.25, 5]));
    expect(histogram.exponent).toBe(3 - 11);
    expect(histogram.first).toBe(-3 * 256);
    expect([...histogram.counts.entries()].filter(([, count]) => count > 0).map(([bin]) => bin + histogram.first)).toEqual([
      -768, 0, 64, 1280,
    ]);
  });

  it('NaN and infinities are counted, and enter nothing else', () => {
    const sketch = sketchTensor(Float32Array.from([Number.NaN, 1, Number.POSITIVE_INFINITY, -2, Number.NEGATIVE_INFINITY, -0]));
    expect(sketch).toMatchObject({ count: 6, nan: 1, infinite: 2, zeros: 1, min: -2, max: 1 });
    expect(fromDyadic(sketch.sum)).toBe(-1);
    expect(fromDyadic(sketch.sumOfSquares)).toBe(5);
  });

  it('comes back from JSON as it was', () => {
    fc.assert(
      fc.property(tensor, data => {
        const sketch = sketchTensor(data);
        expect(readSketchJson(sketchReader, JSON.parse(bytes(sketch)), 'test')).toEqual(sketch);
      }),
    );
  });

  it.each([
    ['a missing count', { nan: 0, infinite: 0, zeros: 0, sum: '0e0', sumOfSquares: '0e0' }],
    ['a sum that is none', { count: 0, nan: 0, infinite: 0, zeros: 0, sum: 'x', sumOfSquares: '0e0' }],
    [
      'counts cut off',
      { count: 1, nan: 0, infinite: 0, zeros: 0, sum: '0e0', sumOfSquares: '0e0', histogram: { exponent: 0, first: 0, counts: '/w==' } },
    ],
  ])('%s is refused', (_what, json) => {
    expect(() => readSketchJson(sketchReader, json, 'sketches')).toThrow(expect.objectContaining({ code: 'bad-sketches' }));
  });

  it('a value that calibration never reached has no range', () => {
    expect(() => chooseRange(sketchTensor(new Float32Array(0)), { kind: 'min-max' }, 'rois')).toThrow(
      expect.objectContaining({ code: 'no-elements' }),
    );
  });
});

describe('counts', () => {
  it('come back from text as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeNat()), counts => {
        expect(decodeCounts(encodeCounts(counts))).toEqual(counts);
      }),
    );
  });
});
