/** Runs `evaluate-segmentation`: measures every image, adds the counts, and computes the figures. */
import { join } from 'node:path';
import { findImageFile, takeFromFolders } from '../../src/detection/data/image-list.js';
import { listMaskedImages } from '../../src/detection/data/label-masks.js';
import { makeImageNetworkSettings } from '../../src/detection/image-network.js';
import { addCounts, type ConfusionCounts, figuresOf } from '../../src/detection/segmentation/confusion.js';
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
import { imageConfusion } from './image-confusion.js';
import { type MeasuredImage, type MeasureSettings, measureImage, readMeasured } from './measure-image.js';
import { makeSegmentationMetrics } from './metrics.js';
import type { EvaluateSegmentationParams } from './params.js';

type SegmentationJob = StageJob<EvaluateSegmentationParams>;

/** @throws StageError `class-output`, `class-count`, `no-labeled-pixels`, `baseline-metrics`; DetectionError for masks and images. */
export async function runEvaluateSegmentation(job: SegmentationJob): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const baseline = inputs.baseline === undefined ? undefined : await readInput(inputs, 'baseline', readJsonFile);
  const measured = await measureAll(job);
  const counts = addCounts(measured.map(one => one.counts));
  const outside = measured.reduce((sum, one) => sum + one.outside, 0);
  if (outside > 0)
    context.log('warning', `${outside} labeled pixels are outside of the network's input and do not count: use another \`resize\``);
  const classes = countClasses(measured, counts, params);
  const nameOf = (label: number): string => params.classes?.[label] ?? String(label);
  const figures = figuresOf(counts, classes);
  if (figures.pixels === 0)
    throw new StageError('no-labeled-pixels', 'no pixel of the masks has a class', {
      help: 'check `ignore`, `firstValue` and `values` against the numbers in the masks',
    });
  const metrics = makeSegmentationMetrics({ figures, images: measured.length, nameOf }, baseline);
  const { miou, pixelAccuracy, images } = metrics;
  context.log('info', `mIoU ${miou.toFixed(4)}, pixel accuracy ${pixelAccuracy.toFixed(4)} on ${images} images`);
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), metrics);
  await writeJsonFile(getOutputPath(outputs, 'report'), {
    classes: figures.perClass.map(({ label, pixels, predicted, iou, accuracy }) => ({
      name: nameOf(label),
      pixels,
      predicted,
      iou: iou ?? null,
      accuracy: accuracy ?? null,
    })),
    confusion: counts.map(entry => [...entry]),
    outside,
  });
}

async function measureAll(job: SegmentationJob): Promise<readonly MeasuredImage[]> {
  const { params, inputs, context } = job;
  const folders = { images: getInputPath(inputs, 'images'), masks: getInputPath(inputs, 'masks') };
  const { from = '', to = '' } = params.maskNames;
  const all = await listMaskedImages({ ...folders, list: findInputPath(inputs, 'list'), names: { from, to } });
  const images = takeFromFolders(all, params.samples);
  const measuring = await openMeasuring(job);
  return measureImages(images, context, {
    atOnce: params.runner === 'cpu' ? context.partsAtOnce : 1,
    measure: async image => measuring.measure(await findImageFile(folders.images, image), join(folders.masks, image.mask)),
  }).finally(measuring.close);
}

/** @throws StageError `class-count`. */
function countClasses(measured: readonly MeasuredImage[], counts: ConfusionCounts, { classes }: EvaluateSegmentationParams): number {
  const of = measured.find(one => one.of !== null)?.of ?? undefined;
  const least = counts.reduce((most, [label, own]) => Math.max(most, label + 1, own + 1), 0);
  const stated = classes?.length;
  if (stated !== undefined && (of === undefined ? least > stated : of !== stated))
    throw new StageError('class-count', `the model has ${of ?? `at least ${least}`} classes, but \`classes\` has ${stated}`, {
      help: 'correct `classes`, or name another `output`',
    });
  return of ?? stated ?? least;
}

interface Measuring {
  measure(image: string, mask: string): Promise<MeasuredImage>;
  close(): Promise<void>;
}

/** On this machine, results are kept per image. Results of a device are not kept, because the device may change. */
async function openMeasuring(job: SegmentationJob): Promise<Measuring> {
  const { params, inputs, context } = job;
  const model = getInputPath(inputs, 'model');
  const { firstValue, ignore, values } = params;
  const settings: MeasureSettings = {
    ...makeImageNetworkSettings(await readInput(inputs, 'model', readModel), params, 'a score per class and pixel', (level, text) =>
      context.log(level, text),
    ),
    mask: { first: firstValue, ignore: [...ignore], values: values ?? null },
  };
  if (params.runner === 'cpu')
    return {
      measure: (image, mask) => memoShape(context, imageConfusion, { manifest: settings, blobs: { model, image, mask } }, readMeasured),
      close: async () => undefined,
    };
  const runner = await openRunner(params, runnerFiles(inputs), context, [], openSimulated);
  const { opened, close } = await openOnRunner(runner, ({ open }) => open(model, { optimization: params.optimization }));
  return { measure: (image, mask) => measureImage(opened, { image, mask }, settings), close };
}
