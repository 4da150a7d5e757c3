/** How does `calibrate` work? One kept part per image gives the model's input, and each input is observed. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { findImageFile, type ListedImage, listImages, takeFirstImages } from '../../src/detection/image-list.js';
import { parseRecipe } from '../../src/detection/recipe.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { encodeModelSketches } from '../../src/quant/model-sketches.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { findPart } from './find-part.js';
import { type FindInput, openInputs } from './inputs.js';
import { nameSample } from './name-sample.js';
import { observeSamples, type SampleObserver } from './observe-samples.js';
import type { CalibrateParams } from './params.js';
import { type LeftOut, reportCalibration, type UsedSample } from './report.js';

/** @throws StageError `part-unknown`, `part-mismatch`, `detector-missing`, `no-rois`; DetectionError of data sets and images; QuantError `not-finite`. */
export async function runCalibrate({ params, inputs, outputs, context }: StageJob<CalibrateParams>): Promise<void> {
  const modelPath = getInputPath(inputs, 'model');
  const model = await readInput(inputs, 'model', readModel);
  const recipe = parseRecipe(await readInput(inputs, 'recipe', readJsonFile));
  const config =
    inputs.config === undefined ? recipe.config : parseDetectorConfig(await readInput(inputs, 'config', readJsonFile), undefined).config;
  const part = findPart(model, recipe, params.part);
  const data = getInputRecord(inputs, 'data');
  const images = takeFirstImages(listImages(await readJsonFile(getDefined(data.annotations, 'annotations'))), params.samples);
  const detector = inputs.detector === undefined ? undefined : getInputRecord(inputs, 'detector');
  const findInput = await openInputs({ part, recipe, config, detector, rois: params.rois, context });

  const observer = observeSamples({ model, modelPath, params, context });
  const samples = await sketchImages({ images, folder: getDefined(data.images, 'images'), findInput, observer, context });
  if (samples.used.length === 0) throw noSamples(samples.leftOut, params);
  const sketches = await observer.finish();
  await writeJsonFile(getOutputPath(outputs, 'sketches'), encodeModelSketches(sketches));
  await writeJsonFile(getOutputPath(outputs, 'report'), reportCalibration(part, sketches, samples));
}

interface SampleJob {
  readonly images: readonly ListedImage[];
  readonly folder: string;
  readonly findInput: FindInput;
  readonly observer: SampleObserver;
  readonly context: Context;
}

interface Samples {
  readonly used: readonly UsedSample[];
  readonly leftOut: readonly LeftOut[];
}

async function sketchImages({ images, folder, findInput, observer, context }: SampleJob): Promise<Samples> {
  const used: UsedSample[] = [];
  const leftOut: LeftOut[] = [];
  for (const [done, image] of images.entries()) {
    context.progress(done, images.length, 'images');
    await nameSample(image, async () => {
      const input = await findInput(await findImageFile(folder, image));
      if (input.kind === 'left-out') {
        leftOut.push({ image, reason: input.reason });
        return;
      }
      await observer.sketch(input.path);
      used.push({ image, rows: input.rows });
    });
  }
  context.progress(images.length, images.length, 'images');
  for (const { image, reason } of leftOut) context.log('warning', `image ${image.id} (${image.fileName}) is left out: ${reason}`);
  return { used, leftOut };
}

function noSamples(leftOut: readonly LeftOut[], { rois }: CalibrateParams): StageError {
  const details: JsonObject[] = leftOut.map(({ image, reason }) => ({ image: image.id, reason }));
  return new StageError(
    'no-rois',
    `none of ${leftOut.length} images has ${rois.min} RoI${rois.min === 1 ? '' : 's'}: nothing to calibrate with`,
    {
      details,
      help: 'take other images, lower rois.min, or check that the detector finds anything in them',
    },
  );
}
