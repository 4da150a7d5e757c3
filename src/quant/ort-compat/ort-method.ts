/** The range methods of onnxruntime.quantization and the histograms that they need, as plain data. */

/** onnxruntime.quantization's own rules, bit for bit, from what `calibrate` collects with `compat: ort`. */
export type OrtRangeMethod =
  /** Mean over the samples of each sample's least and greatest element. */
  | { readonly kind: 'ort-moving-average' }
  /** `of: 'magnitudes'` is its symmetric calibrator, the default; `'values'` the asymmetric one. */
  | { readonly kind: 'ort-percentile'; readonly percentile: number; readonly of: OrtHistogramOf; readonly bins: number }
  | { readonly kind: 'ort-entropy'; readonly bins: number; readonly quantizedBins: number };

export type OrtHistogramOf = 'magnitudes' | 'values';

/** Which elements, in how many bins, and between which values: float32 numbers. */
export interface OrtBinning {
  readonly of: OrtHistogramOf;
  readonly bins: number;
  readonly first: number;
  readonly last: number;
}

/** One histogram as onnxruntime.quantization bins it: over all samples together. Its edges follow from the sketch and the number of bins. */
export interface OrtHistogram {
  readonly of: OrtHistogramOf;
  readonly counts: Float64Array;
}

/** What onnxruntime.quantization would have collected of a value. */
export interface OrtObserved {
  /** Least and greatest element of each sample, in the order of the samples: float32 numbers. */
  readonly sampleMin: Float32Array;
  readonly sampleMax: Float32Array;
  readonly histograms: readonly OrtHistogram[];
}
