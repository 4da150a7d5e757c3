/** Chooses scale and zero point of an activation from its sketch, without running the model. */
import { assertNever } from '../../base/assert-never.js';
import { computeQParams, coveredRange, type Range } from '../integers/qparams.js';
import { QuantError } from '../integers/quant-error.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { OrtRangeMethod } from '../ort-compat/ort-method.js';
import { ortEntropy, ortMovingAverage, ortPercentile } from '../ort-compat/ort-range.js';
import { distributionOf } from '../sketch/distribution.js';
import type { Sketch } from '../sketch/sketch.js';
import { findLeastError, fitPosition } from './choose-position.js';
import { leastDivergenceRange } from './entropy-range.js';
import { leastErrorRange } from './mse-range.js';
import { percentileOfEachSide, percentileOfMagnitudes } from './percentile-range.js';
import type { Chosen, FloatRangeMethod, Observation, PowerOfTwoMethod, RangeMethod } from './range-method.js';

type Seen = Observation & { readonly kind: 'seen' };

/**
 * The parameters that `method` chooses for a tensor with `integers`. A known range is used as it is; a power-of-two method moves its scale to the nearest position.
 * @throws QuantError `no-elements` if calibration saw no finite element; `no-ort-histogram` if `method` needs data that `calibrate` did not collect; `bad-range`.
 */
export function chooseQParams(observation: Observation, method: RangeMethod, integers: IntegerScheme): Chosen {
  if (method.kind === 'power-of-two') return choosePosition(observation, method, integers);
  const range = observation.kind === 'known' ? observation.range : chooseRange(observation, method, integers);
  return { range, qparams: computeQParams(range, integers) };
}

function choosePosition(observation: Observation, { position }: PowerOfTwoMethod, integers: IntegerScheme): Chosen {
  const qparams = (() => {
    if (observation.kind === 'known') return fitPosition(observation.range, 'nearest', integers);
    if (position.kind === 'min-mse') return findLeastError(observation.sketch, seenRange(observation), position, integers);
    return fitPosition(chooseRange(observation, position.of, integers), position.rounding, integers);
  })();
  return { range: coveredRange(qparams, integers.dtype), qparams };
}

function chooseRange(seen: Seen, method: FloatRangeMethod | OrtRangeMethod, integers: IntegerScheme): Range {
  const range = seenRange(seen);
  switch (method.kind) {
    case 'min-max':
      return range;
    case 'percentile': {
      const choose = method.sides === 'each' ? percentileOfEachSide : percentileOfMagnitudes;
      return choose(distributionOf(seen.sketch), method.percentile);
    }
    case 'entropy':
      return leastDivergenceRange(distributionOf(seen.sketch), method.levels);
    case 'mse':
      return leastErrorRange(distributionOf(seen.sketch), method.candidates, integers);
    case 'ort-moving-average':
      return ortMovingAverage(withOrt(seen));
    case 'ort-percentile':
      return ortPercentile(withOrt(seen), method);
    case 'ort-entropy':
      return ortEntropy(withOrt(seen), method);
    default:
      return assertNever(method);
  }
}

/** From the smallest to the largest element. */
export function seenRange({ name, sketch: { min, max, count } }: { readonly name: string; readonly sketch: Sketch }): Range {
  if (min === undefined || max === undefined) {
    throw new QuantError('no-elements', `value "${name}": calibration saw no finite element among ${count}`, {
      help: 'calibrate with samples for which the model computes this value',
    });
  }
  return { low: min, high: max };
}

function withOrt(seen: Seen): Seen & { readonly ort: NonNullable<Seen['ort']> } {
  const { ort, name } = seen;
  if (ort !== undefined) return { ...seen, ort };
  throw new QuantError(
    'no-ort-histogram',
    `value "${name}": the method needs calibration data of onnxruntime.quantization, which was not collected`,
    {
      help: 'set compat: ort on the calibrate stage',
    },
  );
}
