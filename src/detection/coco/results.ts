/** Parser and encoder of COCO's results format. */
import { isJsonList, type Json, type JsonObject } from '../../base/json.js';
import type { Rle } from '../masks/rle.js';
import { encodeRleText } from '../masks/rle-text.js';
import { type CocoBox, type CocoDataset, parseBox, unknownImage } from './dataset.js';
import { indexById } from './image-entry.js';
import type { IouType } from './params.js';
import { badField, member, readInteger, readNumber, readObject } from './reading.js';
import { parseSegmentation, type Segmentation } from './segmentation.js';

/** One detection with a box, a mask, or both. */
export interface CocoResult {
  readonly imageId: number;
  readonly categoryId: number;
  readonly score: number;
  /** `mask_score`, an extension of COCO's format: a separate score of the mask. It ranks masks, and `score` ranks boxes. */
  readonly maskScore?: number | undefined;
  readonly box: CocoBox | undefined;
  readonly segmentation: Segmentation | undefined;
}

/**
 * Parses a results file for a data set. Categories that the data set does not have are allowed: a detector may have more classes.
 * @throws DetectionError `coco-field` where it is not a list, and as `makeResultParser`.
 */
export function parseCocoResults(value: Json, dataset: CocoDataset): readonly CocoResult[] {
  if (!isJsonList(value)) throw badField('the results file', 'a list', value);
  return value.map(makeResultParser(dataset));
}

/**
 * A parser of single results; `index` is the position in the file.
 * @throws DetectionError `coco-field` (also without both `bbox` and `segmentation`), `coco-unknown-image`, `coco-segmentation`.
 */
export function makeResultParser(dataset: CocoDataset): (entry: Json, index: number) => CocoResult {
  const images = indexById(dataset.images, 'image');
  return (entry, index) => {
    const place = `result ${index}`;
    const object = readObject(entry, place);
    const imageId = readInteger(object, 'image_id', place);
    const image = images.get(imageId);
    if (image === undefined) throw unknownImage(place, imageId);
    const segmentation = member(object, 'segmentation');
    const result: CocoResult = {
      imageId,
      categoryId: readInteger(object, 'category_id', place),
      score: readNumber(object, 'score', place),
      ...(member(object, 'mask_score') === undefined ? {} : { maskScore: readNumber(object, 'mask_score', place) }),
      box: parseBox(object, place),
      segmentation:
        segmentation === undefined || segmentation === null ? undefined : parseSegmentation(segmentation, image, `${place}.segmentation`),
    };
    if (result.box === undefined && result.segmentation === undefined)
      throw badField(`${place}.bbox`, 'present, unless there is a segmentation', undefined);
    return result;
  };
}

/** The score that ranks a result for `iouType`. */
export function scoreOf(result: CocoResult, iouType: IouType): number {
  return iouType === 'segm' ? (result.maskScore ?? result.score) : result.score;
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
  };
}

function encodeSegmentation(segmentation: Segmentation): Json {
  return segmentation.kind === 'polygons' ? segmentation.polygons : encodeRle(segmentation.rle);
}

/** COCO's compressed form: `{size: [height, width], counts: text}`. */
export function encodeRle(rle: Rle): JsonObject {
  return { size: [rle.height, rle.width], counts: encodeRleText(rle) };
}
