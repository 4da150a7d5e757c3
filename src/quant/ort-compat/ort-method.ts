/** The range methods of onnxruntime.quantization and the histograms that they need, as plain data. */

/** The range methods of onnxruntime.quantization, bit for bit, from the data that `calibrate` collects with `compat: ort`. */
export type OrtRangeMethod =
  /** Mean over the samples of each sample's minimum and maximum. */
  | { readonly kind: 'ort-moving-average' }
  /** `of: 'magnitudes'`: its symmetric calibrator, the default; `'values'`: the asymmetric one. */
  | { readonly kind: 'ort-percentile'; readonly percentile: number; readonly of: OrtHistogramOf; readonly bins: number }
  | { readonly kind: 'ort-entropy'; readonly bins: number; readonly quantizedBins: number };

export const ORT_HISTOGRAMS = ['magnitudes', 'values'] as const;

export type OrtHistogramOf = (typeof ORT_HISTOGRAMS)[number];

/** The counted quantity, the number of bins, and the outer edges as float32 numbers. */
export interface OrtBinning {
  readonly of: OrtHistogramOf;
  readonly bins: number;
  readonly first: number;
  readonly last: number;
}

/** A histogram over all samples with the bins of onnxruntime.quantization. Its edges follow from the sketch and the number of bins. */
export interface OrtHistogram {
  readonly of: OrtHistogramOf;
  readonly counts: Float64Array;
}

/** The calibration data that onnxruntime.quantization would collect for a value. */
export interface OrtObserved {
  /** Minimum and maximum of each sample, in the order of the samples: float32 numbers. */
  readonly sampleMin: Float32Array;
  readonly sampleMax: Float32Array;
  readonly histograms: readonly OrtHistogram[];
}
