/** The range methods: how the sketch of an activation becomes scale and zero point. Plain data, used in params and reports. */
import type { QParams, Range } from '../integers/qparams.js';
import type { OrtObserved, OrtRangeMethod } from '../ort-compat/ort-method.js';
import type { Sketch } from '../sketch/sketch.js';

/** Methods that choose the ends of a range. The float32 scale follows from the ends and the integers. Definitions: docs/numerics.md. */
export type FloatRangeMethod =
  /** From the smallest to the largest element. */
  | { readonly kind: 'min-max' }
  /**
   * Excludes the largest elements: `percentile` percent lie inside.
   * `sides: 'magnitude'` uses one limit for both signs; `'each'` cuts half of the excluded elements from each end.
   */
  | { readonly kind: 'percentile'; readonly percentile: number; readonly sides: 'magnitude' | 'each' }
  /**
   * The magnitude limit at which `levels` equal steps preserve most information: smallest Kullback-Leibler divergence. 'integers': as many as the integers of the
   * tensor have over the magnitudes, which are twice as many where the data has one sign.
   */
  | { readonly kind: 'entropy'; readonly levels: number | 'integers' }
  /** A share of the min-max range: [share · min, share · max]. */
  | { readonly kind: 'clip'; readonly share: number }
  /** The min-max range scaled by the factor with the smallest squared error, out of `candidates` factors between 0 and 1. */
  | { readonly kind: 'mse'; readonly candidates: number };

/**
 * Methods that choose the scale itself, 2^−position, for hardware that shifts. They need the integers of the tensor (`IntegerScheme`)
 * and give scale and zero point instead of a range: see `chooseQParams`.
 */
export type PowerOfTwoMethod = { readonly kind: 'power-of-two'; readonly position: PositionRule };

export type PositionRule =
  /**
   * The scale of the range `of`, rounded to a power of two: `nearest` in the logarithm, as AMD's quantizers do (up to a factor √2 of the range may saturate),
   * or `up`, so that nothing in the range saturates. With `of: min-max` it is the "NonOverflow" method of AMD's quantizers.
   */
  | { readonly kind: 'non-overflow'; readonly of: FloatRangeMethod; readonly rounding: 'nearest' | 'up' }
  /**
   * Of the positions `first` … `last`, counted from the `nearest` position of the min-max range, the one with the smallest squared error over all samples.
   * Ties go to the smallest position, which is the largest scale. Quark: −1 … 3. vai_q_onnx 3.5: 0 … 4.
   */
  | { readonly kind: 'min-mse'; readonly first: number; readonly last: number };

export type RangeMethod = FloatRangeMethod | PowerOfTwoMethod | OrtRangeMethod;

/** The information from which a value's parameters are chosen. */
export type Observation =
  /** Calibration data. `name` is for messages; `ort` is undefined if `calibrate` ran without `compat: ort`. */
  | { readonly kind: 'seen'; readonly name: string; readonly sketch: Sketch; readonly ort: OrtObserved | undefined }
  /** A range known without data, for example 0 … 1 for Softmax, or one that the user set. Every method uses it as it is. */
  | { readonly kind: 'known'; readonly range: Range };

/** AMD's defaults (Quark), used by `xint8`. */
export const QUARK_MIN_MSE: PowerOfTwoMethod = { kind: 'power-of-two', position: { kind: 'min-mse', first: -1, last: 3 } };
export const NON_OVERFLOW: PowerOfTwoMethod = {
  kind: 'power-of-two',
  position: { kind: 'non-overflow', of: { kind: 'min-max' }, rounding: 'nearest' },
};

/** The parameters chosen for a tensor. */
export interface Chosen {
  /** The covered range: before zero is added and symmetry applied, or, if a scale was chosen, the range that the integers represent. */
  readonly range: Range;
  readonly qparams: QParams;
}
