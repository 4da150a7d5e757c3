/** How does `calibrate` work? One kept part per image for the model's input, one per sample for its sketches, and a merge of what they hold. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { findImageFile, type ListedImage, listImages, takeFirstImages } from '../../src/detection/image-list.js';
import { parseRecipe } from '../../src/detection/recipe.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import { digestModelContent } from '../../src/onnx/digest.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { addSample, encodeModelSketches, type ModelSketches, parseSampleSketches } from '../../src/quant/model-sketches.js';
import type { Sketch } from '../../src/quant/sketch.js';
import { addressValues } from '../../src/quant/value-address.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture.js';
import { sessionManifest } from '../../src/runtime/session.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { findPart } from './find-part.js';
import { type FindInput, openInputs } from './inputs.js';
import { nameSample } from './name-sample.js';
import type { CalibrateParams } from './params.js';
import { type LeftOut, reportCalibration, type UsedSample } from './report.js';
import { SKETCH_FILE, sketchPart } from './sketch-part.js';

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

  const samples = await sketchSamples({ model, modelPath, images, folder: getDefined(data.images, 'images'), findInput, context });
  if (samples.used.length === 0) throw noSamples(samples.leftOut, params);
  const sketches = collect(model, samples);
  await writeJsonFile(getOutputPath(outputs, 'sketches'), encodeModelSketches(sketches));
  await writeJsonFile(getOutputPath(outputs, 'report'), reportCalibration(part, sketches, samples));
}

interface SampleJob {
  readonly model: Model;
  readonly modelPath: string;
  readonly images: readonly ListedImage[];
  readonly folder: string;
  readonly findInput: FindInput;
  readonly context: Context;
}

interface Samples {
  readonly used: readonly UsedSample[];
  readonly leftOut: readonly LeftOut[];
  readonly total: ReadonlyMap<string, Sketch>;
}

async function sketchSamples({ model, modelPath, images, folder, findInput, context }: SampleJob): Promise<Samples> {
  const manifest = { model: digestModelContent(model), session: sessionManifest(CAPTURE_SESSION) };
  const total = new Map<string, Sketch>();
  const used: UsedSample[] = [];
  const leftOut: LeftOut[] = [];
  let inferences = 0;
  for (const [done, image] of images.entries()) {
    context.progress(done, images.length, 'images');
    await nameSample(image, async () => {
      const input = await findInput(await findImageFile(folder, image));
      if (input.kind === 'left-out') {
        leftOut.push({ image, reason: input.reason });
        return;
      }
      const { files, from } = await context.memo(sketchPart, { manifest, blobs: { input: input.path }, unkeyed: { model: modelPath } });
      if (from === 'computed') inferences++;
      addSample(total, parseSampleSketches(await readJsonFile(getDefined(files[SKETCH_FILE], SKETCH_FILE))));
      used.push({ image, rows: input.rows });
    });
  }
  context.progress(images.length, images.length, 'images');
  context.log('info', `${used.length} samples: ${inferences} inferred now, ${used.length - inferences} kept from before`);
  for (const { image, reason } of leftOut) context.log('warning', `image ${image.id} (${image.fileName}) is left out: ${reason}`);
  return { used, leftOut, total };
}

/** The total by address, in the order and with the names of this model's values. */
function collect(model: Model, { used, total }: Samples): ModelSketches {
  const values: ModelSketches['values'] = new Map(
    [...addressValues(model)].flatMap(([id, address]) => {
      const sketch = total.get(address);
      const name = getDefined(model.graph.values.get(id), 'value').name;
      return sketch === undefined ? [] : [[address, { name, sketch }] as const];
    }),
  );
  return { model: digestModelContent(model), samples: used.length, values };
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
