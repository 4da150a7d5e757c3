/** `tanren coco eval`: measures detections with the 12 COCO figures, and on request per class, per kind of error, per pixel and as curves. */

import { basename } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { countOf } from '../../../base/text/count-of.js';
import { type ErrorSplit, splitErrors } from '../../../detection/coco/errors.js';
import {
  type CocoFigures,
  KEYPOINT_FIGURE_NAMES,
  type KeypointFigures,
  summarize,
  summarizeKeypoints,
} from '../../../detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES, KIND_PLURALS } from '../../../detection/coco/figure-names.js';
import { ERROR_KINDS, type ErrorKind } from '../../../detection/coco/image-errors.js';
import { type CocoEvaluation, measureCoco } from '../../../detection/coco/measure.js';
import { COCO_PARAMS, type CocoParams, KEYPOINT_PARAMS, type OverlapType, splitAreas } from '../../../detection/coco/params.js';
import { measureSemantic, type SemanticFigures } from '../../../detection/coco/semantic.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatTable } from '../../terminal/text-table.js';
import { type ImageChoice, readDetections, readGroundTruth, runCoco } from './command.js';
import { checkCurvesPath, writeCurves } from './write-curves.js';

export interface CocoEvalOptions {
  readonly groundTruth: string;
  readonly detections: string;
  readonly type: OverlapType;
  readonly images: ImageChoice;
  readonly maxDets?: readonly number[];
  /** Of keypoints. */
  readonly sigmas?: readonly number[];
  readonly sizes: readonly [number, number];
  readonly iou?: readonly number[];
  readonly categories: CocoParams['categories'];
  readonly perClass: boolean;
  readonly errors: boolean;
  /** The lowest score of the masks. */
  readonly semantic?: number;
  readonly curves?: string;
  readonly json: boolean;
}

export function runCocoEval(options: CocoEvalOptions): Promise<ExitCode> {
  return runCoco(options, async console => {
    const { type, semantic } = options;
    checkOptions(options);
    if (options.curves !== undefined) checkCurvesPath(options.curves);
    const truth = await readGroundTruth(options.groundTruth, options.images, console);
    const results = await readDetections(options.detections, truth, console);
    const evaluation = measureCoco(truth.chosen, results, type, paramsOf(options));
    const answer: Answer = {
      evaluation,
      figures: summarizeAs(options, evaluation, evaluation.categories),
      errors: options.errors && type !== 'keypoints' ? splitErrors(truth.chosen, results, type) : undefined,
      semantic: semantic === undefined ? undefined : measureSemantic(truth.chosen, results, semantic),
    };
    if (options.curves !== undefined) await writeCurves(options.curves, evaluation);
    const counts = countAll(truth.chosen.images.length, evaluation);
    if (options.json) console.json({ ...describe(options), ...counts, ...encode(answer, options) });
    else {
      console.line(
        `${basename(options.detections)}: ${countOf(counts.detections, 'detection')} of ${countOf(counts.objects, 'object')} in ${countOf(counts.images, 'image')}`,
      );
      for (const line of format(answer, options)) console.line(line);
      if (options.curves !== undefined) console.line(`\nwrote ${options.curves}`);
    }
    return EXIT.built;
  });
}

/** @throws CodedError `coco-options` for options that are for other kinds. */
function checkOptions({ type, errors, semantic, sigmas }: CocoEvalOptions): void {
  const odd = type === 'keypoints' ? (errors ? '--errors' : semantic === undefined ? undefined : '--semantic') : sigmas && '--sigmas';
  if (odd !== undefined) throw new CodedError('coco-options', `${odd} is not for --type ${type}`, { help: `leave out ${odd}` });
}

function paramsOf({ type, iou, maxDets, sizes, sigmas, categories }: CocoEvalOptions): CocoParams {
  const base = type === 'keypoints' ? KEYPOINT_PARAMS : COCO_PARAMS;
  const labels = new Set(base.areaRanges.map(({ label }) => label));
  return {
    ...base,
    iouThresholds: iou ?? base.iouThresholds,
    maxDetections: maxDets ?? base.maxDetections,
    areaRanges: splitAreas(sizes).filter(({ label }) => labels.has(label)),
    categories,
    ...(sigmas === undefined ? {} : { sigmas }),
  };
}

type Figures = CocoFigures | KeypointFigures;

function summarizeAs(
  { type }: Pick<CocoEvalOptions, 'type'>,
  evaluation: CocoEvaluation,
  categories: CocoEvaluation['categories'],
): Figures {
  return type === 'keypoints' ? summarizeKeypoints(evaluation, categories) : summarize(evaluation, categories);
}

const namesOf = ({ type }: Pick<CocoEvalOptions, 'type'>): readonly string[] =>
  type === 'keypoints' ? KEYPOINT_FIGURE_NAMES : COCO_FIGURE_NAMES;

const figureOf = (figures: Figures, name: string): number | undefined => Object.entries(figures).find(([key]) => key === name)?.[1];

interface Answer {
  readonly evaluation: CocoEvaluation;
  readonly figures: Figures;
  readonly errors: ErrorSplit | undefined;
  readonly semantic: SemanticFigures | undefined;
}

interface Counts {
  readonly images: number;
  readonly objects: number;
  /** The detections that were evaluated: the best of each image and category. */
  readonly detections: number;
}

function countAll(images: number, { categories }: CocoEvaluation): Counts {
  const sum = (of: (one: (typeof categories)[number]) => number): number => categories.reduce((total, one) => total + of(one), 0);
  return { images, objects: sum(({ objects }) => objects), detections: sum(({ detections }) => detections) };
}

/** What was measured, for readers of the document. */
function describe(options: CocoEvalOptions) {
  const { groundTruth, detections, type, sizes, categories } = options;
  const { maxDetections } = paramsOf(options);
  return { groundTruth: basename(groundTruth), results: basename(detections), type, maxDetections, sizes, categories };
}

function encode({ evaluation, figures, errors, semantic }: Answer, options: CocoEvalOptions) {
  return {
    figures,
    ...(options.perClass
      ? {
          classes: evaluation.categories.map(one => ({
            category: one.category ?? null,
            objects: one.objects,
            detections: one.detections,
            figures: summarizeAs(options, evaluation, [one]),
          })),
        }
      : {}),
    ...(errors === undefined ? {} : { errors }),
    ...(semantic === undefined ? {} : { semantic }),
  };
}

function format(answer: Answer, options: CocoEvalOptions): readonly string[] {
  const { evaluation, figures, errors, semantic } = answer;
  return [
    '',
    ...formatTable([
      ['figure', KIND_PLURALS[options.type]],
      ...namesOf(options).map(name => [labelOf(name, options), show(figureOf(figures, name))]),
    ]),
    ...(options.perClass ? ['', ...formatClasses(evaluation, options)] : []),
    ...(errors === undefined ? [] : ['', ...formatErrors(errors)]),
    ...(semantic === undefined ? [] : ['', ...formatSemantic(semantic)]),
  ];
}

/** The label of AR contains the maximum number of detections. */
function labelOf(name: string, options: CocoEvalOptions): string {
  const place = ['AR1', 'AR10', 'AR100'].indexOf(name);
  return place < 0 ? name : `AR${paramsOf(options).maxDetections[place]}`;
}

/** Formats a figure; −1 means that there are no objects to find. */
function show(figure: number | undefined): string {
  return figure === undefined || figure < 0 ? '–' : figure.toFixed(4);
}

const CLASS_FIGURES = ['AP', 'AP50', 'AP75', 'APsmall', 'APmedium', 'APlarge', 'AR100'];
const KEYPOINT_CLASS_FIGURES = ['AP', 'AP50', 'AP75', 'APmedium', 'APlarge', 'AR'];

function formatClasses(evaluation: CocoEvaluation, options: CocoEvalOptions): readonly string[] {
  const names = options.type === 'keypoints' ? KEYPOINT_CLASS_FIGURES : CLASS_FIGURES;
  const rows = evaluation.categories.map(one => {
    const figures = summarizeAs(options, evaluation, [one]);
    return [one.category?.name ?? 'all', String(one.objects), String(one.detections), ...names.map(name => show(figureOf(figures, name)))];
  });
  return formatTable([['class', 'objects', 'detections', ...names.slice(0, -1), 'AR'], ...rows]);
}

const REASONS: Readonly<Record<ErrorKind, string>> = {
  classification: 'classification',
  localization: 'localization',
  both: 'class and place',
  duplicate: 'duplicate',
  background: 'background',
  missed: 'missed',
};

function formatErrors({ ap, kinds, falsePositives, falseNegatives }: ErrorSplit): readonly string[] {
  return [
    `errors at IoU 0.5, where AP is ${show(ap)}: what each kind costs in AP`,
    ...formatTable([
      ['error', 'count', 'dAP'],
      ...ERROR_KINDS.map(kind => [REASONS[kind], String(kinds[kind].count), kinds[kind].cost.toFixed(4)]),
      ['all false positives', String(falsePositives.count), falsePositives.cost.toFixed(4)],
      ['all false negatives', String(falseNegatives.count), falseNegatives.cost.toFixed(4)],
    ]).map(line => `  ${line}`),
  ];
}

function formatSemantic({ pixelAccuracy, meanAccuracy, meanIou, classes }: SemanticFigures): readonly string[] {
  return [
    `pixels: accuracy ${show(pixelAccuracy)}, mPA ${show(meanAccuracy)}, mIoU ${show(meanIou)}`,
    ...formatTable([
      ['class', 'pixels', 'detected', 'accuracy', 'IoU'],
      ...classes
        .filter(({ iou }) => iou !== undefined)
        .map(({ category, pixels, detectedPixels, accuracy, iou }) => [
          category?.name ?? '(background)',
          String(pixels),
          String(detectedPixels),
          show(accuracy),
          show(iou),
        ]),
    ]).map(line => `  ${line}`),
  ];
}
