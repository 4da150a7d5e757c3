/** Sketches: exact sums, merging in any order, encoding. */
import fc from 'fast-check';
import type { Json } from '../../../../src/base/json.js';
import { readerOf } from '../../../../src/base/schema/schema-reader.js';
import { seenRange } from '../../../../src/quant/range/range-methods.js';
import { decodeCounts, encodeCounts } from '../../../../src/quant/sketch/counts-codec.js';
import { addDyadic, formatDyadic, fromDyadic, parseDyadic, toDyadic } from '../../../../src/quant/sketch/exact-sum.js';
import { EMPTY_SKETCH, mergeSketches, type Sketch, sketchTensor } from '../../../../src/quant/sketch/sketch.js';
import { decodeSketch, decodeSketches, encodeSketch, readSketchJson, SKETCH_SCHEMA } from '../../../../src/quant/sketch/sketch-codec.js';

const tensor = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 40 }).map(values => Float32Array.from(values));
/** One element in bin 0, in the middle of the bin. */
const readSketch = (json: Json): Sketch => {
  const encoded = readSketchJson(readerOf(SKETCH_SCHEMA), json, 'test');
  return decodeSketches('test', problems => decodeSketch(encoded, '', problems));
};

const BIN = { exponent: 0, first: 0, counts: 'AQ==', offsets: 'gAE=' };
const ONE = {
  count: 1,
  nan: 0,
  infinite: 0,
  zeros: 0,
  min: 0.5,
  max: 0.5,
  leastMagnitude: 0.5,
  sum: '1e-1',
  sumOfSquares: '1e-2',
  histograms: [BIN],
};
const mergeAll = (sketches: readonly Sketch[]): Sketch => sketches.reduce(mergeSketches, EMPTY_SKETCH);
const bytes = (sketch: Sketch): string => JSON.stringify(encodeSketch(sketch));

describe('exact sums', () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });

  it('hold every double exactly, also after encoding and decoding', () => {
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

  it('counts every element once, also if two samples have different grids', () => {
    fc.assert(
      fc.property(tensor, tensor, (a, b) => {
        const { histograms } = mergeSketches(sketchTensor(a), sketchTensor(b));
        const counted = histograms.flatMap(({ counts }) => [...counts]).reduce((sum, count) => sum + count, 0);
        expect(counted).toBe(a.length + b.length);
      }),
    );
  });

  it('samples on one grid give the histogram of all their values together', () => {
    const values = fc.array(fc.float({ noNaN: true, min: -8, max: 8 }), { maxLength: 40 }).map(all => Float32Array.from([...all, 8]));
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(mergeSketches(sketchTensor(a), sketchTensor(b)).histograms).toEqual(
          sketchTensor(Float32Array.from([...a, ...b])).histograms,
        );
      }),
    );
  });

  it('bins lie on the grid, with the distances to their lower edges in 256ths', () => {
    const [histogram] = sketchTensor(Float32Array.from([-3, 0, 0.25, 5, 5 + 0.75 / 256, -3 + 0.5 / 256])).histograms;
    if (histogram === undefined) throw new Error('a histogram is there');
    expect(histogram.exponent).toBe(3 - 11);
    const bins = [...histogram.counts].flatMap((count, i) => (count === 0 ? [] : [[i + histogram.first, count, histogram.offsets[i]]]));
    expect(bins).toEqual([
      [-768, 2, 128],
      [0, 1, 0],
      [64, 1, 0],
      [1280, 2, 192],
    ]);
  });

  it('NaN and infinities are counted, and change nothing else', () => {
    const sketch = sketchTensor(Float32Array.from([Number.NaN, 1, Number.POSITIVE_INFINITY, -2, Number.NEGATIVE_INFINITY, -0]));
    expect(sketch).toMatchObject({ count: 6, nan: 1, infinite: 2, zeros: 1, min: -2, max: 1 });
    expect(fromDyadic(sketch.sum)).toBe(-1);
    expect(fromDyadic(sketch.sumOfSquares)).toBe(5);
  });

  it('is the same after encoding and decoding', () => {
    fc.assert(
      fc.property(tensor, data => {
        const sketch = sketchTensor(data);
        expect(readSketch(JSON.parse(bytes(sketch)))).toEqual(sketch);
      }),
    );
  });

  it.each([
    ['a missing count', { count: undefined }],
    ['a malformed sum', { sum: 'x' }],
    ['truncated counts', { histograms: [{ ...BIN, counts: '/w==' }] }],
    ['counts without offsets', { histograms: [{ ...BIN, counts: 'AQE=' }] }],
    ['impossible offsets', { count: 1, histograms: [{ ...BIN, offsets: '/38=' }] }],
    ['fewer values in bins than finite elements', { count: 2, histograms: [BIN] }],
    ['duplicate grid', { count: 2, histograms: [BIN, BIN] }],
  ])('%s is refused', (_what, change) => {
    const json = JSON.parse(JSON.stringify({ ...ONE, ...change })) as Json;
    expect(() => readSketch(json)).toThrow(expect.objectContaining({ code: 'bad-sketches' }));
  });

  it('a consistent sketch is read', () => {
    expect(readSketch(ONE)).toMatchObject({ count: 1, min: 0.5 });
  });

  it('a value that calibration never computed has no range', () => {
    expect(() => seenRange({ name: 'rois', sketch: sketchTensor(new Float32Array(0)) })).toThrow(
      expect.objectContaining({ code: 'no-elements' }),
    );
  });
});

describe('counts', () => {
  it('are the same after encoding and decoding', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeNat()), counts => {
        expect([...decodeCounts(encodeCounts(counts))]).toEqual(counts);
      }),
    );
  });
});
