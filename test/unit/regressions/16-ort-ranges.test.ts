/** Regression 16: calibration ranges differed from those of onnxruntime.quantization. */
import { readFileSync } from 'node:fs';
import { countByEdges, edgesOf, planBinning } from '../../../src/quant/ort-compat/ort-histogram.js';
import type { OrtHistogramOf, OrtObserved, OrtRangeMethod } from '../../../src/quant/ort-compat/ort-method.js';
import {
  addSampleCounts,
  addSampleRanges,
  finishOrtObserved,
  type OrtHistogramRequest,
  type OrtTotal,
  planBinnings,
} from '../../../src/quant/ort-compat/ort-observed.js';
import { chooseQParams } from '../../../src/quant/range/range.js';
import { EMPTY_SKETCH, mergeSketches, type Sketch, sketchTensor } from '../../../src/quant/sketch/sketch.js';
import { fixturePath } from '../../support/fixtures.js';

type Ends = readonly [number, number];

interface RecordedCase {
  readonly name: string;
  readonly firstCounts: readonly (readonly [OrtHistogramOf, number, readonly number[]])[];
  readonly movingAverage: Ends;
  readonly percentile: readonly (readonly [number, OrtHistogramOf, Ends])[];
  readonly entropy: readonly (readonly [number, number, Ends])[];
}

const { cases } = JSON.parse(readFileSync(fixturePath('quant/ort-ranges.json'), 'utf8')) as { cases: readonly RecordedCase[] };

const WISHES: readonly OrtHistogramRequest[] = [
  { of: 'magnitudes', bins: 2048 },
  { of: 'values', bins: 2048 },
  { of: 'values', bins: 128 },
  { of: 'values', bins: 512 },
  { of: 'values', bins: 300 },
];

/** The same numbers as make-ort-ranges.py. */
function data(count: number, seed: number, low: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    let product = 1;
    for (let i = 0; i < 3; i++) {
      state = (state * 48271) % 2147483647;
      product *= (state / 2147483647) * 4 - 2;
    }
    return Math.max(product, low);
  });
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const SAMPLES: Readonly<Record<string, readonly Float32Array[]>> = {
  'two-sided': numbers(1, 20).map(seed => data(700, seed, -10)),
  'after-relu': numbers(31, 42).map(seed => data(700, seed, 0).map(x => x * seed)),
  constant: [new Float32Array(5).fill(0.7)],
};

/** As `calibrate` does it: first every sample's sketch, then counts in bins that all of them fix. */
function observe(samples: readonly Float32Array[]): { sketch: Sketch; ort: OrtObserved } {
  const totals = new Map<string, OrtTotal>();
  const sketches = samples.map(sketchTensor);
  for (const sketch of sketches) addSampleRanges(totals, new Map([['x', sketch]]));
  const sketch = sketches.reduce(mergeSketches, EMPTY_SKETCH);
  const binnings = planBinnings(new Map([['x', sketch]]), WISHES).get('x') ?? [];
  for (const sample of samples) {
    addSampleCounts(totals, new Map([['x', binnings.map(binning => countByEdges(sample, binning, edgesOf(binning)))]]));
  }
  return { sketch, ort: finishOrtObserved(totals.get('x') ?? { sampleMin: [], sampleMax: [], counts: [] }, WISHES) };
}

/** `compat: ort` on fixed float32 data, where no kernel rounds otherwise: equal to NumPy 2 bit for bit (see make-ort-ranges.py). */
describe.each(cases)('regression 16: onnxruntime.quantization on $name data', recorded => {
  const samples = SAMPLES[recorded.name] ?? [];
  const observed = observe(samples);
  const rangeOf = (method: OrtRangeMethod): Ends => {
    const integers = { dtype: 'uint8', symmetric: false, reduceRange: false } as const;
    const { low, high } = chooseQParams({ kind: 'seen', name: 'x', ...observed }, method, integers).range;
    return [low, high];
  };
  /** −0 is 0, and ends that the peer leaves reversed contain zero, as its quantizer then makes them. */
  const usable = ([low, high]: Ends): Ends => (low <= high ? [low + 0, high] : [Math.min(low, 0), Math.max(high, 0)]);

  it('bins hold as many elements', () => {
    for (const [of, bins, counts] of recorded.firstCounts) {
      const found = observed.ort.histograms.find(one => one.of === of && one.counts.length === bins);
      expect([...(found?.counts ?? [])].slice(0, bins / 8)).toEqual(counts);
    }
  });

  it('moving average: the mean of the samples, added in the order of NumPy', () => {
    expect(rangeOf({ kind: 'ort-moving-average' })).toEqual(recorded.movingAverage);
  });

  it.each(recorded.percentile)('percentile %p of %s', (percentile, of, range) => {
    expect(rangeOf({ kind: 'ort-percentile', percentile, of, bins: 2048 })).toEqual(usable(range));
  });

  it.each(recorded.entropy)('entropy, %p bins as %p', (bins, quantizedBins, range) => {
    expect(rangeOf({ kind: 'ort-entropy', bins, quantizedBins })).toEqual(usable(range));
  });
});

describe('bins of NumPy 2', () => {
  it('have float32 edges, many of which differ from correctly rounded exact edges', () => {
    const binning = planBinning(sketchTensor(Float32Array.from([-0.3, 0.7])), 'values', 2048);
    const edges = edgesOf(binning);
    const exact = Float32Array.from(edges, (_, i) => binning.first + ((binning.last - binning.first) * i) / 2048);
    expect(edges.filter((edge, i) => edge !== exact[i]).length).toBeGreaterThan(500);
    expect([edges[0], edges[2048]]).toEqual([Math.fround(-0.7), Math.fround(0.7)]);
  });
});
