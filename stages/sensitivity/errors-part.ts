/** The part of `sensitivity` that measures the errors of all values, and where they come from, on all samples. */
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { listStepErrors, measureStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { feedsOf, parseSampleList } from '../../src/runtime/capture/sample-files.js';
import { definePart } from '../../src/stage/context.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import type { SensitivityManifest } from './manifest.js';

export const ERRORS_FILE = 'errors.json';

export const errorsPart = definePart<SensitivityManifest>({
  name: 'sensitivity-errors',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ unkeyed, folder, context }) {
    const list = parseSampleList(await readJsonFile(getDefined(unkeyed.samples, 'samples')));
    const [float, quantized] = [await readModel(getDefined(unkeyed.float, 'float')), await readModel(getDefined(unkeyed.model, 'model'))];
    const models = findSteps(float, quantized);
    const errors = await measureStepErrors(models, feedsOf(models.quantized, list), () => context.signal.throwIfAborted());
    await writeJsonFile(join(folder, ERRORS_FILE), listStepErrors(models, errors));
    return [ERRORS_FILE];
  },
});
