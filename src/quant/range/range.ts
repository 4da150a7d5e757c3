/** Chooses scale and zero point of an activation from its sketch, without running the model. */
import { computeQParams, coveredRange, type Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import { findLeastError, fitPosition } from './choose-position.js';
import type { Chosen, Observation, PowerOfTwoMethod, RangeMethod } from './range-method.js';
import { chooseEnds, seenRange } from './range-methods.js';

/**
 * The parameters that `method` chooses for a tensor with `integers`. A known range is used unchanged; a power-of-two method moves its scale to the nearest position.
 * @throws QuantError `no-elements` if calibration saw no finite element; `no-ort-histogram` if `method` needs data that `calibrate` did not collect; `bad-range`.
 */
export function chooseQParams(observation: Observation, method: RangeMethod, integers: IntegerScheme): Chosen {
  if (method.kind === 'power-of-two') return choosePosition(observation, method, integers);
  const range: Range = observation.kind === 'known' ? observation.range : chooseEnds(observation, method, integers);
  return { range, qparams: computeQParams(range, integers) };
}

function choosePosition(observation: Observation, { position }: PowerOfTwoMethod, integers: IntegerScheme): Chosen {
  const qparams = (() => {
    if (observation.kind === 'known') return fitPosition(observation.range, 'nearest', integers);
    if (position.kind === 'min-mse') return findLeastError(observation.sketch, seenRange(observation), position, integers);
    return fitPosition(chooseEnds(observation, position.of, integers), position.rounding, integers);
  })();
  return { range: coveredRange(qparams, integers.dtype), qparams };
}
