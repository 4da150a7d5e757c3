/** Columns of matched objects: filled image by image, and one image of them as objects. */
import type { CocoBox } from '../../../detection/coco/dataset.js';
import {
  type ImageRow,
  type MatchedObject,
  type MatchResult,
  OBJECT_KINDS,
  type ObjectBox,
  type ObjectColumns,
  type SideColumns,
  type TruthColumns,
} from './result-types.js';

export function newObjectColumns(count: number): ObjectColumns {
  const side = (): SideColumns => ({
    scores: new Float64Array(count),
    maskScores: new Float64Array(count).fill(Number.NaN),
    boxes: new Float64Array(4 * count),
  });
  return {
    kinds: new Uint8Array(count),
    classes: new Uint32Array(count),
    left: side(),
    right: side(),
    ious: new Float64Array(count).fill(Number.NaN),
    areas: new Float64Array(count),
    scores: new Float64Array(count),
  };
}

export function newTruthColumns(count: number): TruthColumns {
  return { classes: new Uint32Array(count), boxes: new Float64Array(4 * count), crowds: new Uint8Array(count) };
}

/** The memory of the columns, for a message that hands it over instead of copying it. */
export function buffersOf({ objects, truth, objectStarts, truthStarts }: MatchResult): readonly ArrayBufferLike[] {
  const { kinds, classes, left, right, ious, areas, scores } = objects;
  const sides = [left, right].flatMap(side => [side.scores, side.maskScores, side.boxes]);
  return [kinds, classes, ious, areas, scores, ...sides, truth.classes, truth.boxes, truth.crowds, objectStarts, truthStarts].map(
    ({ buffer }) => buffer,
  );
}

/** One image with its objects. */
export function imageAt(result: MatchResult, index: number): ImageRow {
  const image = result.images[index] ?? { id: '', file: '', width: 0, height: 0 };
  return {
    ...image,
    objects: indexes(result.objectStarts, index).map(at => objectAt(result, at)),
    truth: indexes(result.truthStarts, index).map(at => {
      const { classes, boxes, crowds } = result.truth;
      return { box: boxAt(boxes, at), category: categoryAt(result, classes, at), score: 1, crowd: crowds[at] === 1 };
    }),
  };
}

export function objectAt(result: MatchResult, index: number): MatchedObject {
  const { kinds, classes, left, right, ious } = result.objects;
  const kind = OBJECT_KINDS[kinds[index] ?? 0] ?? 'equal';
  const category = categoryAt(result, classes, index);
  const of = ({ scores, maskScores, boxes }: SideColumns): ObjectBox => ({
    box: boxAt(boxes, index),
    category,
    score: scores[index] ?? 0,
    ...(Number.isNaN(maskScores[index]) ? {} : { maskScore: maskScores[index] }),
    crowd: false,
  });
  const iou = ious[index] ?? Number.NaN;
  return {
    index,
    kind,
    left: kind === 'found' ? undefined : of(left),
    right: kind === 'lost' ? undefined : of(right),
    ...(Number.isNaN(iou) ? {} : { iou }),
  };
}

function indexes(starts: Uint32Array, image: number): readonly number[] {
  const [start = 0, end = start] = [starts[image], starts[image + 1]];
  return Array.from({ length: end - start }, (_, at) => start + at);
}

function categoryAt({ categories }: MatchResult, classes: Uint32Array, index: number): string {
  return categories[classes[index] ?? 0]?.id ?? '';
}

function boxAt(boxes: Float64Array, index: number): CocoBox {
  const [x = 0, y = 0, width = 0, height = 0] = boxes.subarray(4 * index, 4 * index + 4);
  return [x, y, width, height];
}
