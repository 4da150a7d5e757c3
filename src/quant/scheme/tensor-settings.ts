/** Settings of one tensor that differ from the scheme. */
import type { QParams, Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { RangeMethod } from '../range/range-method.js';
import type { BiasScheme } from './scheme.js';

/** An absent member keeps the value of the scheme. */
export interface TensorSettings {
  readonly integers: Partial<IntegerScheme>;
  /** For weights only. */
  readonly perChannel?: boolean;
  /** A range method, or a fixed range. */
  readonly range?: RangeMethod | Range;
  /** Fixed scale and zero point. */
  readonly qparams?: QParams;
  readonly bias: Partial<BiasScheme>;
}

export const NO_SETTINGS: TensorSettings = { integers: {}, bias: {} };

export function isFixedRange(range: RangeMethod | Range): range is Range {
  return !('kind' in range);
}
