/** Collects the calibration data of onnxruntime.quantization. The first pass over the samples fixes the bins; the second pass counts. */

import type { Sketch } from '../sketch/sketch.js';
import { planBinning } from './ort-histogram.js';
import type { OrtBinning, OrtHistogram, OrtHistogramOf, OrtObserved } from './ort-method.js';

/** A histogram to collect for every value. */
export interface OrtHistogramRequest {
  readonly of: OrtHistogramOf;
  readonly bins: number;
}

/** The bins of each value, by address, in the order of the requests. */
export type OrtBinnings = ReadonlyMap<string, readonly OrtBinning[]>;

/** The counts of one sample in these bins. */
export type SampleCounts = ReadonlyMap<string, readonly Float64Array[]>;

/** Values without a finite element get no bins. */
export function planBinnings(total: ReadonlyMap<string, Sketch>, requests: readonly OrtHistogramRequest[]): OrtBinnings {
  const seen = [...total].filter(([, sketch]) => sketch.min !== undefined);
  return new Map(seen.map(([address, sketch]) => [address, requests.map(({ of, bins }) => planBinning(sketch, of, bins))]));
}

/** The data of one value, collected sample by sample. */
export interface OrtTotal {
  readonly sampleMin: number[];
  readonly sampleMax: number[];
  counts: readonly Float64Array[];
}

/** Appends the minimum and maximum of a sample. NaN if it has no finite element: NumPy's nanmean ignores those. */
export function addSampleRanges(totals: Map<string, OrtTotal>, sample: ReadonlyMap<string, Sketch>): void {
  for (const [address, { min = Number.NaN, max = Number.NaN }] of sample) {
    const total = totals.get(address) ?? { sampleMin: [], sampleMax: [], counts: [] };
    total.sampleMin.push(min);
    total.sampleMax.push(max);
    totals.set(address, total);
  }
}

export function addSampleCounts(totals: Map<string, OrtTotal>, sample: SampleCounts): void {
  for (const [address, counts] of sample) {
    const total = totals.get(address);
    if (total === undefined) continue;
    total.counts = counts.map((own, i) => total.counts[i]?.map((count, bin) => count + (own[bin] as number)) ?? own);
  }
}

export function finishOrtObserved({ sampleMin, sampleMax, counts }: OrtTotal, requests: readonly OrtHistogramRequest[]): OrtObserved {
  const histograms: OrtHistogram[] = requests.flatMap(({ of }, i) => {
    const own = counts[i];
    return own === undefined ? [] : [{ of, counts: own }];
  });
  return { sampleMin: Float32Array.from(sampleMin), sampleMax: Float32Array.from(sampleMax), histograms };
}
