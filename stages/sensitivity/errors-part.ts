/** The part of `sensitivity` that measures the errors of all values, and where they come from, on all samples. */
import { join } from 'node:path';
import { readPair } from '../../src/quant/recovery/model-pair.js';
import { listStepErrors, measureStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { definePart } from '../../src/stage/context.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import type { SensitivityManifest } from './manifest.js';

export const ERRORS_FILE = 'errors.json';

export const errorsPart = definePart<SensitivityManifest>({
  name: 'sensitivity-errors',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ unkeyed, folder, context }) {
    const { float, quantized, samples } = await readPair(unkeyed);
    const models = findSteps(float, quantized);
    const errors = await measureStepErrors(models, samples.quantized, () => context.signal.throwIfAborted());
    await writeJsonFile(join(folder, ERRORS_FILE), listStepErrors(models, errors));
    return [ERRORS_FILE];
  },
});
