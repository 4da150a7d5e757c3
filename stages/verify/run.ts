/** Runs `verify`: compares as its params say, checks the thresholds, and writes report and metrics. */

import type { CocoId } from '../../src/detection/coco/coco-id.js';
import { detectionFiguresOf } from '../../src/detection/compare/compare-detections.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { openSimulated } from '../../src/quant/simulate/open-simulated.js';
import { openRunner } from '../../src/runtime/open-runner.js';
import { type OpenModel, openSession } from '../../src/runtime/session/session.js';
import { shareSessions } from '../../src/runtime/session/shared-sessions.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { runnerFiles } from '../../src/stage/runner-port.js';
import { StageError } from '../../src/stage/stage-error.js';
import { chooseImages } from './choose-images.js';
import { findCollapses } from './collapse.js';
import { compareCaptured } from './compare-captured.js';
import { compareDetectors } from './compare-detectors.js';
import { compareModels } from './compare-models.js';
import { comparePart } from './compare-part.js';
import { judge } from './judge.js';
import type { VerifyJob } from './params.js';
import { openPartComparer, type PartComparer, type PartFigures } from './part-errors.js';
import { describeSummary, makeMetrics, makeReport } from './report.js';
import { assertCompared, withSelections } from './selected-figures.js';
import { listPartsOnTiles, type SideOptions } from './sides.js';
import type { Summary } from './summary.js';

/** The comparison and its ids: of images or of samples. */
interface Compared {
  readonly summary: Summary;
  readonly on: { readonly images: readonly CocoId[] } | { readonly samples: readonly string[] };
}

/** @throws StageError `verify-collapsed`; `verify-missed` with every missed threshold, `verify-unknown-value`; DetectionError `part-values`; and the errors of detectors, images, captures and data sets. */
export async function runVerify(job: VerifyJob): Promise<void> {
  const { params, inputs, context } = job;
  const errors = openPartComparer(job);
  const { candidate = {} } = inputs;
  const models = typeof candidate === 'string' ? [] : Object.entries(candidate);
  const runner = await openRunner(params, runnerFiles(inputs), context, models, openSimulated);
  let closing: Promise<void> | undefined;
  try {
    const { summary, on } = await compare(job, runner.open, errors).finally(runner.close);
    await errors.finish();
    // Reports are written meanwhile.
    closing = errors.close();
    await conclude(job, summary, on, errors.conclude(summary.differing));
  } finally {
    await (closing ?? errors.close());
  }
}

async function conclude(
  { params, outputs, context }: VerifyJob,
  summary: Summary,
  on: Compared['on'],
  figures: PartFigures,
): Promise<void> {
  const judged = withSelections(summary, figures.selections, params.selection);
  assertCompared(judged);
  for (const line of describeSummary(summary, figures.selections)) context.log('info', line);
  assertNear(judged, params.thresholds, figures, Object.values(on).flat().length);
  await writeJsonFile(getOutputPath(outputs, 'report'), makeReport(judged, on, figures));
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), makeMetrics(judged, figures.selections));
}

async function compare(job: VerifyJob, openCandidate: OpenModel, errors: PartComparer): Promise<Compared> {
  const { part, reference, runner } = job.params;
  if (reference === 'captured' || reference === 'model') {
    const { summary, samples } = await (reference === 'captured'
      ? compareCaptured(job, openCandidate)
      : compareModels(job, openCandidate, errors));
    return { summary, on: { samples } };
  }
  const images = await chooseImages(job);
  // Two detectors often differ in one part alone; at full size, a second session of a backbone takes a gigabyte.
  const open = shareSessions(openSession);
  const options = await readOptions(job, 'recipe', open);
  const own = job.inputs.candidateRecipe === undefined ? options : await readOptions(job, 'candidateRecipe', open);
  const sides = { reference: options, candidate: { ...own, open: runner === 'cpu' ? open : openCandidate } };
  const onTiles = listPartsOnTiles(options, own).filter(name => part === undefined || name === part);
  if (job.params.values === 'all' && onTiles.length > 0)
    job.context.log('warning', `inner values of ${onTiles.join(', ')} are not compared, because the part runs on tiles; its outputs are`);
  const summary =
    part === undefined ? await compareDetectors(job, images, sides, errors) : await comparePart(job, part, images, sides, errors);
  return { summary, on: { images: images.map(image => image.id) } };
}

async function readOptions({ params, inputs }: VerifyJob, recipe: 'recipe' | 'candidateRecipe', open: OpenModel): Promise<SideOptions> {
  const definition = readDefinition({
    recipe: await readInput(inputs, recipe, readJsonFile),
    config: inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile),
    fit: params.fit,
  });
  // Every network of a detector would keep the peak of its own activations.
  return { definition, session: { optimization: params.optimization, memoryArena: 'none' }, open };
}

function assertNear(summary: Summary, thresholds: VerifyJob['params']['thresholds'], { selections }: PartFigures, samples: number): void {
  const figures = summary.detections === undefined ? undefined : detectionFiguresOf(summary.detections);
  const { missed, unknown } = judge(summary.values, figures, thresholds);
  if (unknown.length > 0) {
    throw new StageError(
      'verify-unknown-value',
      `thresholds name ${unknown.join(', ')}, which are not compared; the compared values are ${[...summary.values.keys()].join(', ')}`,
    );
  }
  const collapses = findCollapses(summary, thresholds, selections);
  if (collapses.length > 0) {
    throw new StageError('verify-collapsed', `the candidate has collapsed on ${samples} images: ${collapses.join('; ')}`, {
      details: { collapses, missed, metrics: makeMetrics(summary, selections) },
      help: 'if this is intended, state a threshold: minSqnrDb for a value or for what is behind a selection, maxMissed for detections; with `minSqnrDb: -998` and `values: all`, the report shows where the error begins',
    });
  }
  if (missed.length === 0) return;
  throw new StageError(
    'verify-missed',
    `${missed.length} threshold${missed.length === 1 ? ' is' : 's are'} missed on ${samples} images: ${missed.join('; ')}`,
    {
      details: { missed, metrics: makeMetrics(summary, selections) },
      help:
        selections.length === 0
          ? 'see the log for the figures of every value'
          : 'see the log for the figures of every value; `selection: reference` judges values behind a selection with equal selections',
    },
  );
}
