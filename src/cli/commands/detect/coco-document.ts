/** Encodes detections in the user's pictures as a COCO document: annotations with scores, so that tools for COCO data sets can open it. */
import type { JsonObject } from '../../../base/json.js';
import { type CocoResult, encodeResult } from '../../../detection/coco/results.js';
import type { ImageSize } from '../../../detection/image/image-size.js';
import { rleArea } from '../../../detection/masks/rle.js';

export interface DocumentImage {
  readonly id: number;
  readonly fileName: string;
  readonly size: ImageSize;
}

export interface FoundByStage {
  readonly categories: ReadonlyMap<number, string>;
  readonly results: readonly CocoResult[];
}

/** A document with `images`, `categories` and `annotations`. Annotation ids start at 1. */
export function makeCocoDocument(images: readonly DocumentImage[], found: FoundByStage): JsonObject {
  return { images: encodeImages(images), ...encodeFound(found) };
}

export function encodeImages(images: readonly DocumentImage[]): readonly JsonObject[] {
  return images.map(({ id, fileName, size }) => ({ id, file_name: fileName, width: size.width, height: size.height }));
}

export function encodeFound({ categories, results }: FoundByStage): JsonObject {
  return {
    categories: [...categories].map(([id, name]) => ({ id, name })),
    annotations: results.map((result, index) => ({ id: index + 1, ...encodeResult(result), area: areaOf(result), iscrowd: 0 })),
  };
}

/** The area of the mask in pixels, or of the box if there is no mask. */
function areaOf({ box, segmentation }: CocoResult): number {
  if (segmentation?.kind === 'rle') return rleArea(segmentation.rle);
  const [, , width = 0, height = 0] = box ?? [];
  return width * height;
}
