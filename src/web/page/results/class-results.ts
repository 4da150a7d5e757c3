/** Predictions of two classifiers on the same images: which are right on one side only, and the confusion of each side. */
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import { anyList, integer, number, openObject, text } from '../../../base/schema/build-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { ApiError } from '../api/client.js';
import { type CsvLine, encodeCsv } from './encode-csv.js';

const PREDICTIONS = anyList(
  openObject({ file: text(), label: integer(0), classes: anyList(integer(0)), scores: anyList(number()) }),
  'What `evaluate-classes` writes: per image its label and the best classes with their scores.',
);

const reader = readerOf(PREDICTIONS);

export interface Prediction {
  readonly file: string;
  readonly label: number;
  readonly classes: readonly number[];
  readonly scores: readonly number[];
}

/** @throws ApiError `report-input`. */
export function parsePredictions(json: Json): readonly Prediction[] {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  throw new ApiError(
    0,
    'report-input',
    `invalid predictions: ${formatJsonProblems(read.problems).slice(0, 5).join('; ')}`,
    'build the stage again',
  );
}

/** 'lost': only the left side is right. 'found': only the right side is. 'changed': both are wrong in different ways. */
export const CLASS_KINDS = ['lost', 'found', 'changed', 'right', 'wrong'] as const;

export type ClassKind = (typeof CLASS_KINDS)[number];

export interface ClassifiedImage {
  readonly file: string;
  readonly label: number;
  readonly kind: ClassKind;
  readonly left: Prediction;
  readonly right: Prediction;
}

/** Images that both sides have, in the order of the left side. */
export function joinPredictions(left: readonly Prediction[], right: readonly Prediction[]): readonly ClassifiedImage[] {
  const others = new Map(right.map(one => [one.file, one]));
  return left.flatMap(one => {
    const other = others.get(one.file);
    return other === undefined ? [] : [{ file: one.file, label: one.label, kind: kindOf(one, other), left: one, right: other }];
  });
}

function kindOf(left: Prediction, right: Prediction): ClassKind {
  const [isLeft, isRight] = [left, right].map(({ label, classes }) => classes[0] === label);
  if (isLeft && isRight) return 'right';
  if (isLeft) return 'lost';
  if (isRight) return 'found';
  return left.classes[0] === right.classes[0] ? 'wrong' : 'changed';
}

/**
 * Names of classes whose images lie in a folder each: "airplane" of "airplane/0000.jpg". Empty where a class has several folders, or a folder several classes.
 */
export function nameClasses(images: readonly Pick<ClassifiedImage, 'file' | 'label'>[]): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const labels = new Map<string, number>();
  for (const { file, label } of images) {
    const folder = file.slice(0, Math.max(0, file.lastIndexOf('/')));
    if (folder === '' || (names.get(label) ?? folder) !== folder || (labels.get(folder) ?? label) !== label) return new Map();
    names.set(label, folder);
    labels.set(folder, label);
  }
  return names;
}

const LIST_HEAD = ['file', 'label', 'kind', 'left class', 'left score', 'right class', 'right score'];

/** A line of comma-separated values per image, with the best class of each side. */
export function listPredictions(images: readonly ClassifiedImage[]): string {
  const best = ({ classes, scores }: Prediction): CsvLine => [classes[0], scores[0]];
  return encodeCsv([LIST_HEAD, ...images.map(({ file, label, kind, left, right }) => [file, label, kind, ...best(left), ...best(right)])]);
}

export interface Confusion {
  readonly label: number;
  readonly predicted: number;
  readonly left: number;
  readonly right: number;
}

/** Wrong predictions by label and predicted class, the most frequent of both sides first. */
export function listConfusions(images: readonly ClassifiedImage[]): readonly Confusion[] {
  const found = new Map<string, { label: number; predicted: number; left: number; right: number }>();
  const add = (label: number, predicted: number | undefined, side: 'left' | 'right'): void => {
    if (predicted === undefined || predicted === label) return;
    const key = `${label} ${predicted}`;
    const row = found.get(key) ?? { label, predicted, left: 0, right: 0 };
    row[side] += 1;
    found.set(key, row);
  };
  for (const { label, left, right } of images) {
    add(label, left.classes[0], 'left');
    add(label, right.classes[0], 'right');
  }
  return [...found.values()].sort((a, b) => b.left + b.right - a.left - a.right || a.label - b.label || a.predicted - b.predicted);
}
