/** Opens the samples of a calibration from what is connected: captured tensors, images through a detector, or a plain model's own data. */

import { openDataSource, openImageSource, preparesImages } from '../../src/detection/data/data-source.js';
import type { PreparingModel } from '../../src/detection/data/preparing-model.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { findInputPath, findInputRecord, getInputPath, readInput } from '../../src/stage/paths.js';
import type { CalibrationSamples } from './calibration-sample.js';
import { openCapturedSamples } from './captured-samples.js';
import { openDetectorSamples } from './detector-samples.js';
import { findPart } from './find-part.js';
import type { CalibrateParams } from './params.js';
import { openPlainSamples } from './plain-samples.js';

/**
 * @param prepare the model of the port `prepare`, if it is connected.
 * @throws DetectionError `data-source`, and the errors of the source.
 */
export async function openSamples(
  job: StageJob<CalibrateParams>,
  model: Model,
  prepare: PreparingModel | undefined,
): Promise<CalibrationSamples> {
  const { params, inputs, context } = job;
  const data = findInputRecord(inputs, 'data');
  const images = findInputPath(inputs, 'images');
  const tensors = findInputPath(inputs, 'tensors');
  if (inputs.captured !== undefined) {
    if (data !== undefined || images !== undefined || tensors !== undefined)
      throw tooMuch('captured tensors and other data are both connected');
    if (params.preprocess !== undefined) throw tooMuch('`preprocess` is set, but captured tensors are connected');
    if (prepare !== undefined) throw preparesImages('captured tensors');
    return openCapturedSamples(getInputPath(inputs, 'captured'), model, params);
  }
  if (inputs.recipe !== undefined && tensors !== undefined)
    throw tooMuch('tensors and a recipe are both connected, but tensors are fed to the model unchanged');
  if (inputs.recipe === undefined) {
    return openPlainSamples(await openDataSource({ data, images, tensors }, params.samples), model, params, {
      prepare,
      scratch: context.scratch,
      log: (level, text) => context.log(level, text),
    });
  }
  if (params.preprocess !== undefined) throw tooMuch('`preprocess` is set, but a recipe is connected, which defines the preprocessing');
  if (prepare !== undefined)
    throw tooMuch('`prepare` and a recipe are both connected, and a recipe takes `prepare` as a part of `detector`');
  const definition = readDefinition({
    recipe: await readInput(inputs, 'recipe', readJsonFile),
    config: inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile),
  });
  const part = findPart(model, definition.parts, params.part);
  const source = await openImageSource({ data, images }, params.samples);
  const detector = findInputRecord(inputs, 'detector');
  return { part: part.name, samples: await openDetectorSamples(source, { model, part, definition, detector, rois: params.rois, context }) };
}

function tooMuch(message: string): DetectionError {
  return new DetectionError('data-source', message, { help: 'remove one of the two' });
}
