/** Detections of two sides, matched. */
import type { CocoBox } from '../../../detection/coco/dataset.js';
import type { ImageSize } from '../../../detection/image/image-size.js';

export interface MatchOrder {
  /** COCO results of both sides, and the COCO data set, as bytes of JSON. */
  readonly left: ArrayBuffer;
  readonly right: ArrayBuffer;
  readonly annotations: ArrayBuffer;
}

export interface ObjectBox {
  readonly box: CocoBox;
  /** Id of the class, as text: ids of COCO files are numbers, or any text. */
  readonly category: string;
  readonly score: number;
  readonly crowd: boolean;
}

/** 'lost': only the left side has it. 'found': only the right side. */
export const OBJECT_KINDS = ['lost', 'found', 'changed', 'equal'] as const;

export type ObjectKind = (typeof OBJECT_KINDS)[number];

export interface MatchedObject {
  readonly kind: ObjectKind;
  readonly left: ObjectBox | undefined;
  readonly right: ObjectBox | undefined;
  readonly iou?: number;
}

export interface ImageRow extends ImageSize {
  readonly id: string;
  readonly file: string;
  readonly objects: readonly MatchedObject[];
  readonly truth: readonly ObjectBox[];
}

export type ResultTotals = Readonly<Record<ObjectKind, number>>;

export interface MatchResult {
  readonly rows: readonly ImageRow[];
  /** Names by id. */
  readonly categories: Readonly<Record<string, string>>;
  readonly totals: ResultTotals;
}
