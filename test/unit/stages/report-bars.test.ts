/** Range bars and per-value errors in the report. */
import { array, assert, double, property } from 'fast-check';
import type { QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { mergeSketches, sketchTensor } from '../../../src/quant/sketch/sketch.js';
import { makeBars } from '../../../src/report/bars.js';
import type { VerifyView } from '../../../stages/report/readers/read-verify.js';
import { joinErrors } from '../../../stages/report/sections/error-section.js';

describe('bars', () => {
  it('count every value of every grid in the bar that it lies in, in at most 120 bars', () => {
    const values = array(double({ min: -1000, max: 1000, noNaN: true }), { minLength: 1, maxLength: 60 });
    assert(
      property(values, values, (a, b) => {
        // Samples of other sizes have other grids.
        const [wide, narrow] = [Float32Array.from(a), Float32Array.from(b, value => value / 512)];
        const { width, first, counts } = makeBars(mergeSketches(sketchTensor(wide), sketchTensor(narrow)).histograms);
        const expected = new Array<number>(counts.length).fill(0);
        for (const value of [...wide, ...narrow]) {
          const bar = Math.floor(value / width) - first;
          expected[bar] = (expected[bar] ?? 0) + 1;
        }
        expect([...counts]).toEqual(expected);
        expect(counts.length).toBeLessThanOrEqual(120);
      }),
    );
  });
});

const quantized = (...names: readonly string[]): QuantizationReport => ({
  scheme: {},
  samples: 1,
  activations: names.map((name, index) => ({
    name,
    method: 'min-max',
    range: [0, 1],
    dtype: 'uint8',
    scale: 1,
    zeroPoint: 0,
    sqnrDb: 30 + index,
  })),
  weights: [],
  biases: [],
  removed: [],
  fused: [],
  accumulators: [],
  counts: {},
  inFloat: [],
});
const verified = (part: string, ...names: readonly string[]): VerifyView => ({
  values: {},
  propagated: [
    {
      part,
      samples: 1,
      unmatched: [],
      values: names.map((value, index) => ({
        value,
        comparedWith: value,
        node: '',
        opType: 'Conv',
        standardDeviation: 1,
        maxAbs: 1,
        cosine: 1,
        sqnrDb: 10 + index,
        elements: 1,
        broken: 0,
      })),
    },
  ],
});

describe('errors', () => {
  it('join by part and name in graph order, and keep entries that one side lacks', () => {
    const joined = joinErrors([{ name: 'a', value: quantized('y', 'w') }], [{ name: 'q', value: verified('a', 'x', 'y') }]);
    expect(joined).toEqual([
      {
        part: 'a',
        values: [
          { name: 'x', opType: 'Conv', propagated: 10 },
          { name: 'y', opType: 'Conv', own: 30, propagated: 11 },
          { name: 'w', opType: '', own: 31 },
        ],
      },
    ]);
  });

  it('keep parts apart that have other names, and take one model for one model', () => {
    const one = joinErrors([{ name: 'resnet', value: quantized('y') }], [{ name: 'q', value: verified('model', 'y') }]);
    expect(one).toEqual([{ part: 'resnet', values: [{ name: 'y', opType: 'Conv', own: 30, propagated: 10 }] }]);
    const two = joinErrors(
      [
        { name: 'a', value: quantized('y') },
        { name: 'b', value: quantized('y') },
      ],
      [{ name: 'q', value: verified('c', 'y') }],
    );
    expect(two.map(({ part, values }) => [part, values])).toEqual([
      ['a', [{ name: 'y', opType: '', own: 30 }]],
      ['b', [{ name: 'y', opType: '', own: 30 }]],
      ['c', [{ name: 'y', opType: 'Conv', propagated: 10 }]],
    ]);
  });

  it('take the last report that has them', () => {
    const [joined] = joinErrors(
      [],
      [
        { name: 'first', value: verified('a', 'old') },
        { name: 'second', value: verified('a', 'new') },
        { name: 'third', value: { ...verified('a'), propagated: [] } },
      ],
    );
    expect(joined?.values.map(({ name }) => name)).toEqual(['new']);
  });
});
