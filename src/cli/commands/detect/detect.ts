/** `tanren detect STAGE… IMAGE|FOLDER`: runs built detectors on the user's pictures and reports objects, speed and stability. */
import { resolve } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { detectionFiguresOf, mergeDetectionComparisons } from '../../../detection/compare/compare-detections.js';
import type { DetectionFigures } from '../../../detection/compare/detection-figures.js';
import type { Stability } from '../../../detection/compare/frame-stability.js';
import { buildCommand } from '../../pipeline/build-command.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { padEnd, widest } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { encodeFound, encodeImages } from './coco-document.js';
import { describeAgreement, describeObjects, formatStability, formatTiming } from './detect-report.js';
import { findDetector } from './find-detector.js';
import { followVideos } from './follow-videos.js';
import { listPictures, type Picture } from './list-pictures.js';
import { type OpenStage, openStage, warnOfDifferences } from './open-stage.js';
import { type DetectionRun, imagesOf, type PictureFound, resultsOf, runDetection } from './run-detection.js';
import { summarizeTimes, type Timing } from './step-times.js';
import { checkOutsideOf, type Output, parseOutput, writeDocuments, writeOverlays } from './write-output.js';

export type DetectOptions = PipelineOptions & {
  readonly json: boolean;
  /** A .json file or a folder. */
  readonly output?: string;
  readonly minScore: number;
  readonly frames: boolean;
  readonly threads: number;
};

/** Objects of two detectors match if their box IoU is at least this. */
const MATCH_IOU = 0.5;

/** @param words the stages, then the image or folder. */
export async function runDetect(words: readonly string[], options: DetectOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const stages: OpenStage[] = [];
  try {
    const [path, names] = [words.at(-1) ?? '', words.slice(0, -1)];
    if (names.length === 0) throw noStage(path);
    const toBuild = (missing: readonly string[]): string => buildCommand(options, missing);
    const output = parseOutput(options.output, names.length);
    const opened = await openPlan(options, names, console);
    if (opened === undefined) return EXIT.usage;
    const built = (opened.targets === 'all' ? [] : opened.targets).map(stage => findDetector(opened.plan, stage, toBuild));
    checkOutsideOf(resolve(path), output);
    const pictures = await listPictures(resolve(path));
    await warnOfDifferences(opened.plan, built, console, toBuild);
    for (const one of built) stages.push(await openStage(one, options.threads));
    return await detectAll(stages, pictures, output, { options, console });
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  } finally {
    for (const { detector } of stages) await detector.close();
  }
}

function noStage(path: string): CodedError {
  return new CodedError('no-stage', `expected a stage and an image or folder, found only "${path}"`, {
    help: 'tanren detect STAGE IMAGE|FOLDER, where the stage runs a detector, as `evaluate` does',
  });
}

interface Saying {
  readonly options: DetectOptions;
  readonly console: Console;
}

async function detectAll(stages: readonly OpenStage[], pictures: readonly Picture[], output: Output, saying: Saying): Promise<ExitCode> {
  const { minScore } = saying.options;
  const signal = abortOnSignals();
  const run = await runDetection(
    stages,
    pictures,
    { matchIou: MATCH_IOU, minScore },
    {
      signal,
      async found(one) {
        sayFound(one, stages, saying);
        await writeOverlays(one, stages, output, minScore);
      },
      problem({ fileName }, { code, message, help }) {
        saying.console.problem('error', `error[${code}]: ${fileName}: ${message}${help === undefined ? '' : `\n  help: ${help}`}`);
      },
    },
  );
  if (signal.aborted) return EXIT.interrupted;
  await writeDocuments(run, stages, output);
  const report = makeReport(run, stages, saying.options);
  if (saying.options.json) saying.console.json(encodeReport(run, stages, report));
  else sayReport(run, stages, report, saying.console);
  return run.problems.length > 0 ? EXIT.failed : EXIT.built;
}

function sayFound({ picture, size, found }: PictureFound, stages: readonly OpenStage[], { options, console }: Saying): void {
  const lines = stages.map(({ categories }, index) => describeObjects(found[index]?.results ?? [], categories, options.minScore));
  const head = `${picture.fileName}  ${size.width}×${size.height}`;
  if (lines.length === 1) {
    console.line(`${head}  ${lines[0]}`);
    return;
  }
  console.line(head);
  const width = widest(stages.map(({ stage }) => stage));
  for (const [index, { stage }] of stages.entries()) console.line(`  ${padEnd(stage, width)}  ${lines[index]}`);
}

/** The report, with one entry per stage in each list. */
interface Report {
  readonly timings: readonly (Timing | undefined)[];
  /** Empty unless frames were tracked. */
  readonly stabilities: readonly Stability[];
  /** The agreement of each further stage with the first. */
  readonly agreements: readonly DetectionFigures[];
}

function makeReport(run: DetectionRun, stages: readonly OpenStage[], { frames, minScore }: DetectOptions): Report {
  return {
    timings: run.times.map(summarizeTimes),
    stabilities: frames ? followVideos(run, stages.length, minScore) : [],
    agreements: run.comparisons.map(comparisons => detectionFiguresOf(mergeDetectionComparisons(comparisons))),
  };
}

function encodeReport(run: DetectionRun, stages: readonly OpenStage[], { timings, stabilities, agreements }: Report): unknown {
  return {
    images: encodeImages(imagesOf(run)),
    problems: run.problems.map(({ picture, problem: { code, message, help } }) => ({ file_name: picture.fileName, code, message, help })),
    stages: stages.map(({ stage, categories }, index) => ({
      stage,
      ...encodeFound({ categories, results: resultsOf(run, index) }),
      timing: timings[index],
      stability: stabilities[index],
      agreement: index === 0 ? undefined : { with: stages[0]?.stage, ...agreements[index - 1] },
    })),
  };
}

function sayReport(run: DetectionRun, stages: readonly OpenStage[], { timings, stabilities, agreements }: Report, console: Console): void {
  const names = stages.map(({ stage }) => stage);
  const [first = '', ...others] = names;
  const masks = run.pictures.some(({ results }) => results.flat().some(({ segmentation }) => segmentation !== undefined)) ? 'some' : 'none';
  const blocks = [
    run.pictures.length === 0 ? [] : formatTiming(names, timings),
    stabilities.length === 0 ? [] : formatStability(names, stabilities),
    agreements.map((figures, index) => describeAgreement(others[index] ?? '', first, figures, masks)),
    run.problems.length === 0
      ? []
      : [`${run.problems.length} of ${run.problems.length + run.pictures.length} pictures could not be processed`],
  ];
  for (const block of blocks.filter(({ length }) => length > 0)) for (const line of ['', ...block]) console.line(line);
}
