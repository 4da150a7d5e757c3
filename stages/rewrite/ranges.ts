/** Ranges of a model's values from its calibration sketches. */
import type { Digest } from '../../src/base/digest.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';
import type { SeenRange } from '../../src/onnx/rewrite/match.js';
import type { ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { observe } from '../../src/quant/calibration/observe.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';

/** @throws QuantError `sketches-of-another-model`. */
export function findRanges(model: Model, digest: Digest, sketches: ModelSketches): ReadonlyMap<ValueId, SeenRange> {
  if (sketches.model !== digest)
    throw new QuantError('sketches-of-another-model', 'the sketches belong to another model than the one that is rewritten', {
      help: 'calibrate the model that this stage gets; a rewrite before it needs sketches of its own output',
    });
  const ranges = new Map<ValueId, SeenRange>();
  for (const [id, observation] of observe(model, sketches)) {
    if (observation.kind !== 'seen') continue;
    const { min, max, channels } = observation.sketch;
    if (min !== undefined && max !== undefined) ranges.set(id, { low: min, high: max, channelLows: channels?.min });
  }
  return ranges;
}
