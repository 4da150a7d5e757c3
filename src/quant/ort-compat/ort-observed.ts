/** What would onnxruntime.quantization have collected of a model? Histograms whose bins the first pass over the samples fixed, added up over a second one. */

import type { Sketch } from '../sketch/sketch.js';
import { planBinning } from './ort-histogram.js';
import type { OrtBinning, OrtHistogram, OrtHistogramOf, OrtObserved } from './ort-method.js';

/** A histogram to collect of every value. */
export interface OrtWish {
  readonly of: OrtHistogramOf;
  readonly bins: number;
}

/** The bins of each value, by address, in the order of the wishes. */
export type OrtBinnings = ReadonlyMap<string, readonly OrtBinning[]>;

/** One sample's counts in them. */
export type SampleCounts = ReadonlyMap<string, readonly Float64Array[]>;

/** Values of which nothing was seen have no bins. */
export function planBinnings(total: ReadonlyMap<string, Sketch>, wishes: readonly OrtWish[]): OrtBinnings {
  const seen = [...total].filter(([, sketch]) => sketch.min !== undefined);
  return new Map(seen.map(([address, sketch]) => [address, wishes.map(({ of, bins }) => planBinning(sketch, of, bins))]));
}

/** Collects one value's parts sample by sample. */
export interface OrtTotal {
  readonly sampleMin: number[];
  readonly sampleMax: number[];
  counts: readonly Float64Array[];
}

/** Appends a sample's least and greatest elements: NaN where it has none, as NumPy's means leave those out. */
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

export function toOrtObserved({ sampleMin, sampleMax, counts }: OrtTotal, wishes: readonly OrtWish[]): OrtObserved {
  const histograms: OrtHistogram[] = wishes.flatMap(({ of }, i) => {
    const own = counts[i];
    return own === undefined ? [] : [{ of, counts: own }];
  });
  return { sampleMin: Float32Array.from(sampleMin), sampleMax: Float32Array.from(sampleMax), histograms };
}
