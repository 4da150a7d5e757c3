/** What does one tensor get that differs from the scheme? */
import type { QParams, Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { RangeMethod } from '../range/range-method.js';
import type { BiasScheme } from './scheme.js';

/** Knobs of one tensor; what is absent is the scheme's. */
export interface TensorSettings {
  readonly integers: Partial<IntegerScheme>;
  /** Of weights. */
  readonly perChannel?: boolean;
  /** A method, or the range itself. */
  readonly range?: RangeMethod | Range;
  /** Scale and zero point themselves. */
  readonly qparams?: QParams;
  readonly bias: Partial<BiasScheme>;
}

export const NO_SETTINGS: TensorSettings = { integers: {}, bias: {} };

export function isFixedRange(range: RangeMethod | Range): range is Range {
  return !('kind' in range);
}
