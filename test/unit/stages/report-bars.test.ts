/** Range bars and per-value errors of the page. */
import { array, assert, double, property } from 'fast-check';
import type { PartErrors } from '../../../src/quant/compare/propagated-error.js';
import type { QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { mergeSketches, sketchTensor } from '../../../src/quant/sketch/sketch.js';
import { makeBars } from '../../../src/report/bars.js';
import { findCosts, findPart } from '../../../src/web/page/quantization/find-part.js';
import { joinLayers } from '../../../src/web/page/quantization/layers.js';

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
const verified = (part: string, ...names: readonly string[]): PartErrors => ({
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
});

describe('errors', () => {
  const shown = (...layers: Parameters<typeof joinLayers>) =>
    joinLayers(...layers).map(({ name, opType, own, propagated }) => [name, opType, own, propagated]);

  it('join by name in graph order, and keep values that one side lacks', () => {
    expect(shown(quantized('y', 'w'), verified('a', 'x', 'y'), undefined)).toEqual([
      ['x', 'Conv', undefined, 10],
      ['y', 'Conv', 30, 11],
      ['w', '', 31, undefined],
    ]);
  });

  it('are of the part of the model’s name, else of the one with more than half of its values', () => {
    const [first, second] = [verified('first', 'input', 'a'), verified('second', 'input', 'b', 'c')];
    const model = quantized('input', 'b', 'c');
    expect(findPart(model, [first, second], undefined)).toBe(second);
    expect(findPart(model, [second, first], 'first')).toBe(first);
    // One common name of three.
    expect(findPart(model, [first], 'third')).toBeUndefined();
    expect(findPart(model, [verified('first', 'other'), second], 'first')).toBe(second);
    expect(findPart(quantized('y'), [verified('other', 'x')], undefined)).toBeUndefined();
  });

  it('cost what the report of that name says, else the one with more than half of the values', () => {
    const costs = (name: string, ...values: readonly string[]) => ({
      name,
      value: {
        format: 'tanren-sensitivity/1' as const,
        samples: 1,
        outputs: [],
        layers: values.map(value => ({ values: [value], nodes: [], ownSqnrDb: 20, share: 0, shares: {} })),
      },
    });
    const [head, backbone] = [costs('head', 'input', 'h'), costs('backbone', 'input', 'b', 'c')];
    const model = quantized('input', 'b', 'c');
    expect(findCosts(model, [head, backbone], 'other')).toBe(backbone);
    expect(findCosts(model, [head, backbone], 'head')).toBe(head);
    expect(findCosts(model, [head], 'backbone')).toBeUndefined();
  });

  it('have the cost of a layer, whether it was measured, and the setting that widens it', () => {
    const layer = (value: string, opType: string) => ({
      values: [value],
      nodes: [{ name: value, opType }],
      ownSqnrDb: 20,
      share: 0.25,
      shares: {},
    });
    const costs = joinLayers(quantized('y', 'w'), undefined, {
      format: 'tanren-sensitivity/1',
      samples: 1,
      outputs: [],
      layers: [{ ...layer('y', 'Concat'), alone: { cost: 0.5, outputs: [] } }, layer('w', 'Conv')],
    }).map(({ cost }) => cost);
    expect(costs).toEqual([
      { share: 0.5, basis: 'measured', setting: 'joins: separate, or overrides: [{tensor: "y", set: {dtype: int16}}]' },
      { share: 0.25, basis: 'first-order', setting: 'overrides: [{tensor: "w", set: {dtype: int16}}]' },
    ]);
  });
});
