/** Which real numbers should a tensor's integers cover? Chosen from its sketch alone, so that another choice needs no inference. */
import { assertNever } from '../base/assert-never.js';
import type { Range } from './qparams.js';
import { QuantError } from './quant-error.js';
import type { Sketch } from './sketch.js';

/** How a range is chosen. */
export type RangeMethod = { readonly kind: 'min-max' };

/**
 * The range of `sketch` by `method`; `name` is for messages.
 * @throws QuantError `no-elements` where the sketch saw nothing finite: a range made up for it would be a silent wrong scale.
 */
export function chooseRange(sketch: Sketch, method: RangeMethod, name: string): Range {
  switch (method.kind) {
    case 'min-max':
      return minMaxRange(sketch, name);
    default:
      return assertNever(method.kind);
  }
}

/** From the least to the greatest element seen. */
function minMaxRange(sketch: Sketch, name: string): Range {
  if (sketch.min === undefined || sketch.max === undefined) {
    throw new QuantError('no-elements', `value "${name}": calibration saw no finite element (${sketch.count} in all)`, {
      help: 'calibrate with samples that reach this value',
    });
  }
  return { low: sketch.min, high: sketch.max };
}
