/** Parser and encoder of COCO's results format. */

import { assertNever } from '../../base/assert-never.js';
import { isJsonList, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { Rle } from '../masks/rle.js';
import { encodeRleText } from '../masks/rle-text.js';
import { type CocoId, indexById, readId } from './coco-id.js';
import { type CocoBox, type CocoDataset, parseBox, unknownImage } from './dataset.js';
import { type Keypoints, parseKeypoints } from './keypoints.js';
import { ignoreOddity, type NoteOddity } from './oddities.js';
import type { OverlapType } from './params.js';
import { asNumber, badField, member, type Place, readObject } from './reading.js';
import { parseSegmentation, type ReadSegmentation, type Segmentation } from './segmentation.js';

/** One detection with a box, a mask, or both. */
export interface CocoResult {
  readonly imageId: CocoId;
  readonly categoryId: CocoId;
  /** NaN ranks last. */
  readonly score: number;
  /** `mask_score`, an extension of COCO's format: a separate score of the mask. It ranks masks, and `score` ranks boxes. */
  readonly maskScore?: number | undefined;
  readonly box: CocoBox | undefined;
  /** Set where the mask decides the size class although there is a box: the first result of the file has none. */
  readonly sizedBy?: 'mask';
  readonly segmentation: Segmentation | undefined;
  readonly keypoints?: Keypoints;
}

/**
 * Parses a results file for a data set. Categories that the data set does not have are allowed: a detector may have more classes.
 * @throws DetectionError `coco-field` where it is not a list, and as `makeResultParser`.
 */
export function parseCocoResults(
  value: Json,
  dataset: CocoDataset,
  note: NoteOddity = ignoreOddity,
  readMask: ReadSegmentation = parseSegmentation,
): readonly CocoResult[] {
  if (!isJsonList(value)) throw badField('the results file', 'a list', value);
  return value.map(makeResultParser(dataset, note, readMask));
}

/**
 * A parser of single results, called in the order of the file; `index` is the position. As in pycocotools, the first result decides whether boxes or
 * masks give the size classes; if it has a box, all need one. `note` gets what is odd.
 * @throws DetectionError `coco-field` (also without both `bbox` and `segmentation`), `coco-unknown-image`, `coco-no-region`.
 */
export function makeResultParser(
  dataset: CocoDataset,
  note: NoteOddity = ignoreOddity,
  readMask: ReadSegmentation = parseSegmentation,
): (entry: Json, index: number) => CocoResult {
  const images = indexById(dataset.images);
  let first: CocoResult | undefined;
  return (entry, index) => {
    const place = `result ${index}`;
    const object = readObject(entry, place);
    const imageId = readId(object, 'image_id', place);
    const image = images.get(imageId);
    if (image === undefined) throw unknownImage(place, imageId);
    const categoryId = readId(object, 'category_id', place);
    const score = readScore(object, 'score', place, note);
    const maskScore = member(object, 'mask_score') === undefined ? undefined : readScore(object, 'mask_score', place, note);
    const box = parseBox(member(object, 'bbox'), `${place}.bbox`, note);
    const segmentation = readMask(member(object, 'segmentation'), image, `${place}.segmentation`, note);
    const points = parseKeypoints(object, place, note);
    if (box === undefined && segmentation === undefined && points.keypoints === undefined)
      throw badField(`${place}.bbox`, 'four numbers, unless there is a segmentation', member(object, 'bbox'));
    const result: CocoResult = {
      imageId,
      categoryId,
      score,
      ...(maskScore === undefined ? {} : { maskScore }),
      box,
      segmentation,
      ...points,
    };
    first ??= result;
    if (first.box !== undefined && box === undefined)
      throw new DetectionError('coco-no-region', `${place} has no bbox of four numbers, which all results need where the first one has it`);
    return first.box === undefined && first.segmentation !== undefined && box !== undefined ? { ...result, sizedBy: 'mask' } : result;
  };
}

function readScore(object: JsonObject, name: string, place: Place, note: NoteOddity): number {
  const value = asNumber(member(object, name));
  if (value === undefined) throw badField(`${place}.${name}`, 'a number', member(object, name));
  if (!Number.isFinite(value)) note('not-finite', `${place}.${name}`);
  return value;
}

/** Order by falling score; NaN is last, as numpy sorts it. */
export function compareScores(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a === b ? 0 : a > b ? -1 : 1;
}

/** The score that ranks a result for `iouType`. */
export function scoreOf(result: CocoResult, iouType: OverlapType): number {
  return iouType === 'segm' || iouType === 'boundary' ? (result.maskScore ?? result.score) : result.score;
}

/** The text of a results file: one detection per line, with members in a fixed order. Equal results give equal text. */
export function encodeCocoResults(results: readonly CocoResult[]): string {
  if (results.length === 0) return '[]\n';
  return `[\n${results.map(result => JSON.stringify(encodeResult(result))).join(',\n')}\n]\n`;
}

/** One detection as JSON, its mask as compressed run lengths or polygons. */
export function encodeResult(result: CocoResult): JsonObject {
  return {
    image_id: result.imageId,
    category_id: result.categoryId,
    ...(result.box === undefined ? {} : { bbox: result.box }),
    score: result.score,
    ...(result.maskScore === undefined ? {} : { mask_score: result.maskScore }),
    ...(result.segmentation === undefined ? {} : { segmentation: encodeSegmentation(result.segmentation) }),
    ...(result.keypoints === undefined ? {} : { keypoints: result.keypoints.invalid?.json ?? [...result.keypoints.points] }),
  };
}

function encodeSegmentation(segmentation: Segmentation): Json {
  switch (segmentation.kind) {
    case 'polygons':
      return segmentation.polygons;
    case 'rle':
      return encodeRle(segmentation.rle);
    case 'invalid':
    case 'unread':
      return segmentation.json;
    default:
      return assertNever(segmentation);
  }
}

/** COCO's compressed form: `{size: [height, width], counts: text}`. */
export function encodeRle(rle: Rle): JsonObject {
  return { size: [rle.height, rle.width], counts: encodeRleText(rle) };
}
