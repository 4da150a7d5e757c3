/** Runs `evaluate-classes`: classifies every image, and computes the accuracy. */

import { type LabeledImage, type LabeledImages, listLabeledImages } from '../../src/detection/data/class-labels.js';
import { findImageFile, takeFromFolders } from '../../src/detection/data/image-list.js';
import { makeImageNetworkSettings } from '../../src/detection/image-network.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSimulated } from '../../src/quant/simulate/open-simulated.js';
import { openOnRunner, openRunner } from '../../src/runtime/open-runner.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { memoShape } from '../../src/stage/json-part.js';
import { measureImages } from '../../src/stage/measure-images.js';
import { findInputPath, getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { runnerFiles } from '../../src/stage/runner-port.js';
import { StageError } from '../../src/stage/stage-error.js';
import { type BestClasses, classifyImage, readBestClasses } from './classify-image.js';
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
  const predictions = await measureImages(images, context, {
    atOnce: params.runner === 'cpu' ? context.partsAtOnce : 1,
    measure: async (image): Promise<Prediction> => {
      const best = await classifying.classify(await findImageFile(folder, image));
      checkLabel(image, best, { classes: params.classes, folders: labeled.folders });
      return { file: image.fileName, label: image.label, best };
    },
  }).finally(classifying.close);
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
  const settings = makeImageNetworkSettings(await readInput(inputs, 'model', readModel), params, 'a score per class', (level, text) =>
    context.log(level, text),
  );
  if (params.runner === 'cpu')
    return {
      classify: path => memoShape(context, imageClasses, { manifest: settings, blobs: { model, image: path } }, readBestClasses),
      close: async () => undefined,
    };
  const runner = await openRunner(params, runnerFiles(inputs), context, [], openSimulated);
  const { opened, close } = await openOnRunner(runner, ({ open }) => open(model, { optimization: params.optimization }));
  return { classify: path => classifyImage(opened, path, settings), close };
}
