/** How are two forms of a detector compared? Image by image: every value of every part on equal inputs, then the detections that each side finds on its own. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { decodeImage } from '../../src/detection/image.js';
import { findImageFile, type ListedImage, listImages, takeFirstImages } from '../../src/detection/image-list.js';
import { type MaskRcnnPart, parseRecipe } from '../../src/detection/recipe.js';
import { compareDetections, type DetectionComparison, detectionFiguresOf } from '../../src/detection/torchvision/compare-detections.js';
import { compareParts, compareValues, runPart, type ValueComparisons } from '../../src/detection/torchvision/compare-parts.js';
import { parseDetectorConfig } from '../../src/detection/torchvision/config.js';
import {
  type Detector,
  locateObjects,
  prepareImage,
  readObjects,
  runRoiHead,
  traceImage,
} from '../../src/detection/torchvision/detector.js';
import { collectPartInputs } from '../../src/detection/torchvision/part-inputs.js';
import { openRunner } from '../../src/runtime/open-runner.js';
import { type OpenModel, openSession } from '../../src/runtime/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { runnerFiles } from '../../src/stage/runner-port.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import { judge } from './judge.js';
import type { VerifyParams } from './params.js';
import { describeSummary, makeMetrics, makeReport, type Summary, summarize } from './report.js';
import { type OpenPart, openPartSide, openSide, type SideOptions, withOpened } from './sides.js';

type VerifyJob = StageJob<VerifyParams>;

/** @throws StageError `verify-missed` with every missed threshold, `verify-unknown-value`; and the errors of detectors, images and data sets. */
export async function runVerify(job: VerifyJob): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const { annotations = '', images: folder = '' } = getInputRecord(inputs, 'data');
  const images = await chooseImages(listImages(await readJsonFile(annotations)), folder, params);
  const runner = await openRunner(params, runnerFiles(inputs), context);
  const summary = await compareSides(job, images, runner.open).finally(runner.close);

  for (const line of describeSummary(summary)) context.log('info', line);
  const figures = summary.detections === undefined ? undefined : detectionFiguresOf(summary.detections);
  const { missed, unknown } = judge(summary.values, figures, params.thresholds);
  if (unknown.length > 0) {
    throw new StageError(
      'verify-unknown-value',
      `thresholds name ${unknown.join(', ')}; the compared values are ${[...summary.values.keys()].join(', ')}`,
    );
  }
  if (missed.length > 0) {
    throw new StageError(
      'verify-missed',
      `${missed.length} threshold${missed.length === 1 ? ' is' : 's are'} missed on ${images.length} images: ${missed.join('; ')}`,
      {
        details: { missed, metrics: makeMetrics(summary) },
        help: 'the log has the figures of every value',
      },
    );
  }
  await writeJsonFile(
    getOutputPath(outputs, 'report'),
    makeReport(
      summary,
      images.map(image => image.id),
      missed,
    ),
  );
  await writeJsonFile(getOutputPath(outputs, 'metrics'), makeMetrics(summary));
}

async function compareSides(job: VerifyJob, images: readonly ChosenImage[], openCandidate: OpenModel): Promise<Summary> {
  const options = await readOptions(job);
  const candidate = { ...options, open: openCandidate };
  const { part } = job.params;
  return part === undefined ? compareDetectors(job, images, options, candidate) : comparePart(job, part, images, options, candidate);
}

interface ChosenImage {
  readonly id: number;
  readonly path: string;
}

/** @throws StageError `unknown-image`; DetectionError `no-images`, `too-few-images`, `image-missing`. */
async function chooseImages(
  listed: readonly ListedImage[],
  folder: string,
  { images: ids, samples }: VerifyParams,
): Promise<readonly ChosenImage[]> {
  const unknown = ids?.filter(id => !listed.some(image => image.id === id)) ?? [];
  if (unknown.length > 0) throw new StageError('unknown-image', `the data set has no image ${unknown.join(', ')}`);
  const chosen = ids === undefined ? takeFirstImages(listed, samples) : listed.filter(image => ids.includes(image.id));
  return Promise.all(chosen.map(async image => ({ id: image.id, path: await findImageFile(folder, image) })));
}

async function readOptions({ params, inputs }: VerifyJob): Promise<SideOptions> {
  const recipe = parseRecipe(await readInput(inputs, 'recipe', readJsonFile));
  const config =
    inputs.config === undefined ? recipe.config : parseDetectorConfig(await readInput(inputs, 'config', readJsonFile), undefined).config;
  return { recipe, config, fit: params.fit, session: { optimization: params.optimization }, open: openSession };
}

/** Both sides are whole detectors. */
async function compareDetectors(
  { params, inputs, context }: VerifyJob,
  images: readonly ChosenImage[],
  options: SideOptions,
  candidateOptions: SideOptions,
): Promise<Summary> {
  const rule = { matchIou: params.matchIou, minScore: params.minScore, maskThreshold: options.config.mask.threshold };
  const values: ValueComparisons[] = [];
  const detections: DetectionComparison[] = [];
  const sides = [
    openSide(inputs, 'reference', params.reference, options),
    openSide(inputs, 'candidate', params.candidate, candidateOptions),
  ] as const;
  await withOpened(sides, async ([reference, candidate]) => {
    for (const [index, image] of images.entries()) {
      context.signal.throwIfAborted();
      const trace = await traceImage(reference, await prepareFile(reference, image.path));
      const compared = await compareParts(trace, candidate);
      const located = await locateObjects(candidate, compared.backbone, trace.image.resized);
      const maskHead = await runRoiHead(candidate, 'mask_head', located.maskFeatures);
      const found = readObjects(candidate, { image: trace.image, ...located, maskHead });
      values.push(compared.values);
      detections.push(compareDetections(image.id, readObjects(reference, trace), found, rule));
      context.progress(index + 1, images.length, 'images');
    }
  });
  return summarize(values, detections);
}

/** Both sides are the model of one part; RoIs for a head are found by the detector. */
async function comparePart(
  { inputs, context }: VerifyJob,
  part: MaskRcnnPart,
  images: readonly ChosenImage[],
  options: SideOptions,
  candidateOptions: SideOptions,
): Promise<Summary> {
  const values: ValueComparisons[] = [];
  const sides = [openPartSide(inputs, 'reference', part, options), openPartSide(inputs, 'candidate', part, candidateOptions)] as const;
  const finders = part === 'backbone' ? [] : [openSide(inputs, 'detector', 'parts', options)];
  await withOpened(sides, ([reference, candidate]) =>
    withOpened(finders, async ([detector]) => {
      for (const [index, image] of images.entries()) {
        context.signal.throwIfAborted();
        const input = await readPartInput(part, image.path, detector, options);
        const run = (side: OpenPart) => runPart({ ...options, run: side.run }, part, input);
        values.push(compareValues(await run(reference), await run(candidate)));
        context.progress(index + 1, images.length, 'images');
      }
    }),
  );
  return summarize(values, undefined);
}

async function readPartInput(
  part: MaskRcnnPart,
  path: string,
  detector: Detector | undefined,
  options: SideOptions,
): Promise<Tensor<'float32'>> {
  if (detector === undefined) return (await prepareFile({ ...options, fit: options.fit ?? options.recipe.image.fit }, path)).tensor;
  const limit = Number.POSITIVE_INFINITY;
  return (await collectPartInputs(detector, path, { box: limit, mask: limit }))[part];
}

async function prepareFile(detector: Pick<Detector, 'recipe' | 'config' | 'fit'>, path: string) {
  return prepareImage(detector, await decodeImage(await readFile(path), basename(path)));
}
