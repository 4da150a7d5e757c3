/** Detections of two sides, matched: columns of numbers, of which filters and lists read a few, and one image as objects. */
import type { CocoBox } from '../../../detection/coco/dataset.js';
import type { ImageSize } from '../../../detection/image/image-size.js';

export interface MatchOrder {
  /** COCO results of both sides, and the COCO data set, as bytes of JSON. */
  readonly left: ArrayBuffer;
  readonly right: ArrayBuffer;
  readonly annotations: ArrayBuffer;
}

/** Where the worker finds the same files, and what lets it ask for them. */
export interface MatchAddresses {
  readonly addresses: Readonly<Record<keyof MatchOrder, string>>;
  readonly token: string;
}

export interface ObjectBox {
  readonly box: CocoBox;
  /** Id of the class, as text: ids of COCO files are numbers, or any text. */
  readonly category: string;
  readonly score: number;
  /** Of its mask, where masks have a score of their own. */
  readonly maskScore?: number;
  readonly crowd: boolean;
}

/** 'lost': only the left side has it. 'found': only the right side. */
export const OBJECT_KINDS = ['lost', 'found', 'changed', 'equal'] as const;

export type ObjectKind = (typeof OBJECT_KINDS)[number];

export interface MatchedObject {
  /** Its place among the objects of the result. */
  readonly index: number;
  readonly kind: ObjectKind;
  readonly left: ObjectBox | undefined;
  readonly right: ObjectBox | undefined;
  readonly iou?: number;
}

export interface ImageRow extends ListedImage {
  readonly objects: readonly MatchedObject[];
  readonly truth: readonly ObjectBox[];
}

export type ResultTotals = Readonly<Record<ObjectKind, number>>;

export type Category = { readonly id: string; readonly name: string };

/** Boxes of one side: of each object four numbers. Zeros where the side lacks the object. */
export interface SideColumns {
  readonly scores: Float64Array;
  /** NaN without a score of the mask. */
  readonly maskScores: Float64Array;
  readonly boxes: Float64Array;
}

/** All objects, image by image. */
export interface ObjectColumns {
  /** Index in `OBJECT_KINDS`. */
  readonly kinds: Uint8Array;
  /** Index of the category. */
  readonly classes: Uint32Array;
  readonly left: SideColumns;
  readonly right: SideColumns;
  /** NaN without a partner. */
  readonly ious: Float64Array;
  /** Area of the box, of the left side where it has one. */
  readonly areas: Float64Array;
  /** The larger score of both sides; 0 in the place of NaN. */
  readonly scores: Float64Array;
}

export interface TruthColumns {
  readonly classes: Uint32Array;
  readonly boxes: Float64Array;
  /** 1 for crowds. */
  readonly crowds: Uint8Array;
}

export interface ListedImage extends ImageSize {
  readonly id: string;
  readonly file: string;
}

export interface MatchResult {
  readonly images: readonly ListedImage[];
  /** Per image the index of its first object; one more at the end. */
  readonly objectStarts: Uint32Array;
  readonly truthStarts: Uint32Array;
  readonly objects: ObjectColumns;
  readonly truth: TruthColumns;
  /** Those of the data set, then others that detections have. */
  readonly categories: readonly Category[];
  readonly totals: ResultTotals;
  /** Whether any detection or object of the ground truth has a mask. */
  readonly hasMasks: boolean;
}

/** Outlines of masks as paths of SVG; undefined where an object has no mask. In the order of the objects of the image. */
export interface ImageMasks {
  readonly left: readonly (string | undefined)[];
  readonly right: readonly (string | undefined)[];
  readonly truth: readonly (string | undefined)[];
}
