/** Runs `evaluate`: detects the objects of every image, and computes the COCO figures. */

import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import { withoutUndefined } from '../../src/base/json/without-undefined.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import { parseCocoDataset } from '../../src/detection/coco/dataset.js';
import { evaluateCoco, evaluateKeypoints } from '../../src/detection/coco/evaluate.js';
import { countOddities } from '../../src/detection/coco/oddities.js';
import { encodeCocoResults, parseCocoResults } from '../../src/detection/coco/results.js';
import { takeImages } from '../../src/detection/coco/subset.js';
import { findImageFile, listImages, takeFirstImages } from '../../src/detection/data/image-list.js';
import { type AnnotatedImage, type DetectionSettings, detectInImage, openParts } from '../../src/detection/detect-image.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { checkModelNames } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { countRoundings, describeCounts, sumCounts } from '../../src/quant/simulate/count-roundings.js';
import { openSimulated } from '../../src/quant/simulate/open-simulated.js';
import { simulateParams } from '../../src/runtime/device/runner-params.js';
import { openOnRunner, openRunner } from '../../src/runtime/open-runner.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readDataFile, readJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { measureImages } from '../../src/stage/measure-images.js';
import { rolesOfModels } from '../../src/stage/model-roles.js';
import { getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { runnerFiles } from '../../src/stage/runner-port.js';
import { StageError } from '../../src/stage/stage-error.js';
import { DETECTIONS_FILE, imageDetections } from './image-detections.js';
import { describeCollapses, type FiguresByType, makeMetrics, parseBaseline } from './metrics.js';
import type { EvaluateParams } from './params.js';
import { reportUnknownCategories } from './unknown-categories.js';

type EvaluateJob = StageJob<EvaluateParams>;

/** @throws StageError `no-annotations`, `baseline-metrics`; DetectionError for data sets, images and detectors. */
export async function runEvaluate(job: EvaluateJob): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const { annotations = '', images: folder = '' } = getInputRecord(inputs, 'data');
  const file = await readDataFile(annotations);
  const images = takeFirstImages(listImages(file), params.samples);
  const oddities = countOddities();
  const dataset = takeImages(parseCocoDataset(file, oddities.note), new Set(images.map(image => image.id)));
  for (const oddity of oddities.list()) context.log('warning', `${basename(annotations)}: ${oddity}`);
  if (dataset.annotations.length === 0) {
    throw new StageError('no-annotations', `none of the ${images.length} images has an annotated object`, {
      help: 'increase `samples`, or connect other annotations',
    });
  }
  const baseline = inputs.baseline === undefined ? undefined : parseBaseline(await readInput(inputs, 'baseline', readJsonFile));

  const detecting = await openDetecting(job);
  const sizes = new Map(dataset.images.map(image => [image.id, image]));
  const found = await measureImages(images, context, {
    atOnce: params.runner === 'external' ? 1 : context.partsAtOnce,
    measure: async image => {
      const { height, width } = getDefined(sizes.get(image.id), `image ${image.id}`);
      return detecting.detect(await findImageFile(folder, image), { imageId: image.id, height, width });
    },
  }).finally(detecting.close);
  const results = parseCocoResults(found.flat(), dataset);
  reportUnknownCategories(results, dataset, context);
  if (params.iouTypes.includes('keypoints') && results.some(result => result.keypoints === undefined))
    throw new StageError('no-keypoints', 'the detector finds no keypoints, and `iouTypes` has `keypoints`', {
      help: 'state `keypoints` in the decoder of the stage `describe`, or remove `keypoints` from `iouTypes`',
    });
  const ofMasks = params.iouTypes.filter(type => type === 'segm' || type === 'boundary');
  if (ofMasks.length > 0 && results.length > 0 && results.every(result => result.segmentation === undefined))
    context.log(
      'warning',
      `the detector has no masks, so that ${ofMasks.join(' and ')} ${ofMasks.length > 1 ? 'use' : 'uses'} the boxes as masks; set \`iouTypes: [bbox]\``,
    );

  const figures: FiguresByType = Object.fromEntries(
    params.iouTypes.map(type => [type, type === 'keypoints' ? evaluateKeypoints(dataset, results) : evaluateCoco(dataset, results, type)]),
  );
  for (const [type, { AP, AP50, AP75 }] of Object.entries(figures)) {
    context.log('info', `${type}: AP ${AP.toFixed(4)}, AP50 ${AP50.toFixed(4)}, AP75 ${AP75.toFixed(4)} on ${images.length} images`);
  }
  for (const line of describeCollapses(figures, baseline)) context.log('warning', line);
  const [first] = images;
  const rounding = first === undefined ? undefined : await countInImage(job, await findImageFile(folder, first));
  const metrics = makeMetrics(figures, { images: images.length, detections: results.length }, baseline);
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), { ...metrics, ...withoutUndefined({ rounding }) });
  await writeFile(getOutputPath(outputs, 'detections'), encodeCocoResults(results));
}

interface Detecting {
  /** COCO results of one image. */
  detect(path: string, image: AnnotatedImage): Promise<Json>;
  close(): Promise<void>;
}

/** On this machine, results are kept per image. Results of a device are not kept, because the device may change. */
async function openDetecting(job: EvaluateJob): Promise<Detecting> {
  const { params, inputs, context } = job;
  const { settings, parts } = await makeRequest(job);
  const blobs = rolesOfModels(parts);
  if (params.runner !== 'external') {
    return {
      async detect(path, image) {
        const { files } = await context.memo(imageDetections, {
          manifest: { ...settings, ...image },
          blobs: { ...blobs, image: path },
        });
        return readJsonFile(getDefined(files[DETECTIONS_FILE], DETECTIONS_FILE));
      },
      close: async () => undefined,
    };
  }
  const runner = await openRunner(params, runnerFiles(inputs), context, Object.entries(parts), openSimulated);
  const { opened, close } = await openOnRunner(runner, ({ open }) => openParts(parts, settings, open));
  return { detect: async (path, image) => JSON.parse(await detectInImage(opened, path, image)) as Json, close };
}

/** The share of results that the rounding of the simulated device makes different from rounding to even, in one image. */
async function countInImage(job: EvaluateJob, path: string): Promise<JsonObject | undefined> {
  const simulate = simulateParams(job.params);
  if (simulate === undefined || simulate.arithmetic !== 'integers') return undefined;
  const counter = countRoundings(simulate);
  const { settings, parts } = await makeRequest(job);
  const detector = await openParts(parts, settings, counter.open);
  await detector.trace(await decodeImage(await readFile(path), basename(path))).finally(() => detector.close());
  const total = sumCounts(counter.counts());
  if (total.elements > 0) job.context.log('info', describeCounts(simulate, counter.counts()));
  return total.elements === 0 ? undefined : { ...total };
}

/** Settings and models that all images share. */
async function makeRequest({ params, inputs }: EvaluateJob) {
  const definition = readDefinition({
    recipe: await readInput(inputs, 'recipe', readJsonFile),
    config: inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile),
    fit: params.fit,
  });
  const parts = getInputRecord(inputs, 'parts');
  checkModelNames(parts, definition);
  const settings: DetectionSettings = {
    optimization: params.optimization,
    session: sessionManifest({ optimization: params.optimization }),
    definition: definition.files,
    ...withoutUndefined({ simulate: simulateParams(params) }),
  };
  return { settings, parts };
}
