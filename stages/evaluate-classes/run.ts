/** Runs `evaluate-classes`: classifies every image, and computes the accuracy. */

import type { JsonObject } from '../../src/base/json.js';
import { type LabeledImage, type LabeledImages, listLabeledImages } from '../../src/detection/data/class-labels.js';
import { findImageFile, takeFromFolders } from '../../src/detection/data/image-list.js';
import { readImageInput } from '../../src/detection/data/image-samples.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSimulated } from '../../src/quant/simulate/open-simulated.js';
import { openRunner } from '../../src/runtime/open-runner.js';
import { listModelInputs } from '../../src/runtime/session/model-inputs.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { takeInOrder } from '../../src/stage/in-order.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { runnerFiles } from '../../src/stage/runner-port.js';
import { StageError } from '../../src/stage/stage-error.js';
import { type BestClasses, type ClassifySettings, classifyImage, parseBestClasses } from './classify-image.js';
import { imageClasses } from './image-classes.js';
import { makeClassMetrics, type Prediction } from './metrics.js';
import type { EvaluateClassesParams } from './params.js';

type ClassesJob = StageJob<EvaluateClassesParams>;

/** @throws StageError `class-output`, `class-scores`, `class-count`, `baseline-metrics`; DetectionError for labels and images. */
export async function runEvaluateClasses(job: ClassesJob): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const folder = getInputPath(inputs, 'images');
  const labeled = await listLabeledImages(folder, findInputPath(inputs, 'labels'), params.classes);
  const images = takeFromFolders(labeled.images, params.samples);
  const baseline = inputs.baseline === undefined ? undefined : await readInput(inputs, 'baseline', readJsonFile);
  const classifying = await openClassifying(job);
  const predictions: Prediction[] = [];
  try {
    await takeInOrder(images, {
      atOnce: params.runner === 'cpu' ? context.partsAtOnce : 1,
      begin: image =>
        nameSample(`image ${image.fileName}`, async () => {
          context.signal.throwIfAborted();
          return classifying.classify(await findImageFile(folder, image));
        }),
      take: async (best, image, index) => {
        await nameSample(`image ${image.fileName}`, async () =>
          checkLabel(image, best, { classes: params.classes, folders: labeled.folders }),
        );
        predictions.push({ file: image.fileName, label: image.label, best });
        context.progress(index + 1, images.length, 'images');
      },
    });
  } finally {
    await classifying.close();
  }
  const metrics = makeClassMetrics(predictions, baseline);
  context.log('info', `top-1 ${Number(metrics.top1).toFixed(4)}, top-5 ${Number(metrics.top5).toFixed(4)} on ${images.length} images`);
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), metrics);
  await writeJsonFile(
    getOutputPath(outputs, 'predictions'),
    predictions.map(({ file, label, best }) => ({ file, label, classes: best.classes, scores: best.scores })),
  );
}

interface NamedClasses extends Pick<LabeledImages, 'folders'> {
  readonly classes: readonly string[] | undefined;
}

/** @throws StageError `class-count`. */
function checkLabel({ fileName, label }: LabeledImage, { of }: BestClasses, { classes, folders }: NamedClasses): void {
  if (classes !== undefined && classes.length !== of)
    throw new StageError('class-count', `the model has ${of} classes, but \`classes\` has ${classes.length}`, {
      help: 'correct `classes`, or name another `output`',
    });
  if (folders !== undefined && folders.length !== of)
    throw new StageError('class-count', `the model has ${of} classes, but there are ${folders.length} folders of images`, {
      help: 'without labels every folder is a class, even an empty one: set `classes`, or remove other folders',
    });
  if (label >= of)
    throw new StageError('class-count', `"${fileName}" has the label ${label}; the model has ${of} classes, counted from 0`, {
      help: 'labels count from 0: check whether the file counts from 1, or was made for another model',
    });
}

interface Classifying {
  classify(path: string): Promise<BestClasses>;
  close(): Promise<void>;
}

/** On this machine, results are kept per image. Results of a device are not kept, because the device may change. */
async function openClassifying(job: ClassesJob): Promise<Classifying> {
  const { params, inputs, context } = job;
  const model = getInputPath(inputs, 'model');
  const settings = makeSettings(await readInput(inputs, 'model', readModel), params);
  if (params.runner === 'cpu') {
    return {
      async classify(path) {
        const { json } = await memoJson(context, imageClasses, { manifest: settings, blobs: { model, image: path } });
        return parseBestClasses(json);
      },
      close: async () => undefined,
    };
  }
  const runner = await openRunner(params, runnerFiles(inputs), context, [], openSimulated);
  try {
    const session = await runner.open(model, { optimization: params.optimization });
    return {
      classify: path => classifyImage(session, path, settings),
      close: () => session.close().finally(runner.close),
    };
  } catch (error) {
    await runner.close();
    throw error;
  }
}

function makeSettings(model: Model, { preprocess, output, optimization }: EvaluateClassesParams): ClassifySettings {
  const { name, size } = readImageInput(listModelInputs(model));
  return {
    optimization,
    session: sessionManifest({ optimization }),
    input: { name, height: size.height ?? null, width: size.width ?? null },
    output: findOutput(model, output),
    preprocess: preprocess as ClassifySettings['preprocess'] & JsonObject,
  };
}

/** @throws StageError `class-output`. */
function findOutput({ graph }: Model, wanted: string | undefined): string {
  const names = graph.outputs.map(id => getValue(graph, id).name);
  const found = wanted === undefined && names.length === 1 ? names[0] : names.find(name => name === wanted);
  if (found !== undefined) return found;
  throw new StageError(
    'class-output',
    wanted === undefined ? `the model has ${names.length} outputs` : `the model has no output "${wanted}"`,
    {
      help: `set \`output\` to the one with a score per class: ${names.join(', ')}`,
    },
  );
}
