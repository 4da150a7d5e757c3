/** The part of `sensitivity` that measures the errors of all values, and where they come from, on all samples. */

import { readPair } from '../../src/quant/recovery/model-pair.js';
import { listStepErrors, measureStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import type { SensitivityManifest } from './manifest.js';

export const errorsPart = defineJsonPart<SensitivityManifest>({
  name: 'sensitivity-errors',
  version: 1,
  module: import.meta.url,
  async compute({ unkeyed, context }) {
    const { float, quantized, samples } = await readPair(unkeyed);
    const models = findSteps(float, quantized);
    const errors = await measureStepErrors(models, samples.quantized, () => context.signal.throwIfAborted());
    return listStepErrors(models, errors);
  },
});
