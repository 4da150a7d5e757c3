/** The part of `widen-types` that measures where the errors of the outputs come from, without wider types. */

import { getDefined } from '../../src/base/invariant.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { listStepErrors, measureStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { feedsOf, openSampleList } from '../../src/runtime/capture/sample-files.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import type { CapturedSamples, TrialBase } from './manifest.js';

export interface ErrorsManifest extends TrialBase, CapturedSamples {}

export const errorsPart = defineJsonPart<ErrorsManifest>({
  name: 'widen-types-errors',
  version: 1,
  module: import.meta.url,
  async compute({ unkeyed, context }) {
    const list = await openSampleList(getDefined(unkeyed.samples, 'samples'), getDefined(unkeyed.captured, 'captured'));
    const models = findSteps(await readModel(getDefined(unkeyed.model, 'model')), await readModel(getDefined(unkeyed.narrow, 'narrow')));
    const errors = await measureStepErrors(models, feedsOf(models.quantized, list), () => context.signal.throwIfAborted());
    return listStepErrors(models, errors);
  },
});
