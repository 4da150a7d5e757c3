/** By which rule does an activation's sketch become scale and zero point? A closed union with every knob; plain data, so that it stands in params and reports. */
import type { QParams, Range } from '../integers/qparams.js';
import type { OrtObserved, OrtRangeMethod } from '../ort-compat/ort-method.js';
import type { Sketch } from '../sketch/sketch.js';

/** Rules that choose the ends of a range; a float32 scale follows from them and the integers. Definitions: docs/numerics.md. */
export type FloatRangeMethod =
  /** From the least to the greatest element. */
  | { readonly kind: 'min-max' }
  /**
   * Leaves out the largest elements: `percentile` of 100 lie inside.
   * `sides: 'magnitude'` cuts at one magnitude, both below and above zero; `'each'` cuts half of the rest from the low and half from the high end.
   */
  | { readonly kind: 'percentile'; readonly percentile: number; readonly sides: 'magnitude' | 'each' }
  /** The limit of magnitudes whose `levels` equal steps keep most information: least Kullback-Leibler divergence. */
  | { readonly kind: 'entropy'; readonly levels: number }
  /** The least and greatest element, shrunk together by the factor (of `candidates` between 0 and 1) with the least squared error in the scheme's integers. */
  | { readonly kind: 'mse'; readonly candidates: number };

/**
 * Rules that choose the scale itself: 2^−position, for hardware that shifts. They need the integers (`IntegerScheme`) that the tensor gets, and give a
 * scale and a zero point, not only a range: see `chooseQParams`.
 */
export type PowerOfTwoMethod = { readonly kind: 'power-of-two'; readonly position: PositionRule };

export type PositionRule =
  /**
   * The scale that the range `of` would have (min-max where the peers say "NonOverflow"), rounded to a power of two: `nearest` on a logarithmic scale as AMD's
   * quantizers do (up to √2 of the range may saturate), or `up`, so that nothing of the range saturates.
   */
  | { readonly kind: 'non-overflow'; readonly of: FloatRangeMethod; readonly rounding: 'nearest' | 'up' }
  /**
   * Of the positions `first` … `last`, counted from the `nearest` position of the min-max range, the one with the least squared error over all samples; of equal
   * ones the least (the largest scale). Quark: −1 … 3. vai_q_onnx 3.5: 0 … 4.
   */
  | { readonly kind: 'min-mse'; readonly first: number; readonly last: number };

export type RangeMethod = FloatRangeMethod | PowerOfTwoMethod | OrtRangeMethod;

/** What a value's parameters are chosen from. */
export type Observation =
  /** What calibration saw. `name` is for messages; `ort` is undefined where `calibrate` ran without `compat: ort`. */
  | { readonly kind: 'seen'; readonly name: string; readonly sketch: Sketch; readonly ort: OrtObserved | undefined }
  /** A range that is known without data, such as 0 … 1 of Softmax, or that a person set. Every method takes it as it is. */
  | { readonly kind: 'known'; readonly range: Range };

/** AMD's defaults (Quark): what `xint8` uses. */
export const QUARK_MIN_MSE: PowerOfTwoMethod = { kind: 'power-of-two', position: { kind: 'min-mse', first: -1, last: 3 } };
export const NON_OVERFLOW: PowerOfTwoMethod = {
  kind: 'power-of-two',
  position: { kind: 'non-overflow', of: { kind: 'min-max' }, rounding: 'nearest' },
};

/** What was chosen for a tensor. */
export interface Chosen {
  /** What the parameters cover: the range before zero is added and symmetry made, or, where a scale was chosen, all that its integers stand for. */
  readonly range: Range;
  readonly qparams: QParams;
}
