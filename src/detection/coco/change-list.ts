/** The changes between two detectors as plain rows, which a page can show: the worst first, with places and outlines. */
import type { ImageSize } from '../image/image-size.js';
import { rleBox } from '../masks/rle.js';
import { CHANGE_RULE, type ChangeKind, findChanges, type ObjectChange, type SeenObject } from './changes.js';
import type { CocoBox, CocoDataset, CocoImage } from './dataset.js';
import { nameCategory } from './name-category.js';
import { outlineOf } from './outline-path.js';
import type { IouType } from './params.js';
import type { CocoResult } from './results.js';
import { rasterize, type Segmentation } from './segmentation.js';

/** Where something is in its image. */
export type Located = {
  readonly box: CocoBox;
  /** Of the mask, as a path of SVG. */
  readonly outline?: string;
};

/** A detection of an object, or the closest one where it does not count. */
export type SeenRow = Located & {
  readonly score: number;
  /** With the object; 0 for false positives. */
  readonly iou: number;
  readonly lacks: SeenObject['lacks'];
};

export type ChangeRow = {
  readonly kind: ChangeKind;
  readonly image: Pick<ImageSize, 'width' | 'height'> & { readonly id: string; readonly file: string };
  /** The name of the class. */
  readonly category: string;
  readonly truth?: Located;
  readonly before?: SeenRow;
  readonly after?: SeenRow;
  readonly cost: number;
};

export type ChangeList = {
  /** What was compared. */
  readonly iouType: IouType;
  readonly minScore: number;
  readonly counts: Readonly<Record<ChangeKind, number>>;
  readonly kept: number;
  readonly missed: number;
  /** The worst. */
  readonly rows: readonly ChangeRow[];
};

interface ListRule {
  readonly iouType: IouType;
  readonly minScore: number;
  /** Rows. */
  readonly most: number;
}

/** @throws DetectionError `coco-no-region`. */
export function listChanges(
  dataset: CocoDataset,
  before: readonly CocoResult[],
  after: readonly CocoResult[],
  { iouType, minScore, most }: ListRule,
): ChangeList {
  const { changes, kept, missed } = findChanges(dataset, before, after, { ...CHANGE_RULE, iouType, minScore });
  const names = new Map(dataset.categories.map(({ id, name }) => [id, name]));
  const counts = { lost: 0, found: 0, changed: 0, extra: 0, resolved: 0 };
  for (const { kind } of changes) counts[kind] += 1;
  return { iouType, minScore, counts, kept, missed, rows: changes.slice(0, most).map(change => rowOf(change, names)) };
}

function rowOf({ kind, image, truth, before, after, cost }: ObjectChange, names: ReadonlyMap<CocoResult['categoryId'], string>): ChangeRow {
  const { id, width, height, fileName = '' } = image;
  return {
    kind,
    image: { id: String(id), file: fileName, width, height },
    category: nameCategory(truth?.categoryId ?? before?.result.categoryId ?? after?.result.categoryId ?? 0, names),
    ...(truth === undefined ? {} : { truth: locate(truth, image) }),
    ...(before === undefined ? {} : { before: seenOf(before, image) }),
    ...(after === undefined ? {} : { after: seenOf(after, image) }),
    cost,
  };
}

function seenOf({ result, score, iou, lacks }: SeenObject, image: CocoImage): SeenRow {
  return { ...locate(result, image), score, iou, lacks };
}

interface Region {
  readonly box: CocoBox | undefined;
  readonly segmentation: Segmentation | undefined;
}

/** The box of the mask where there is no other. */
function locate({ box, segmentation }: Region, image: CocoImage): Located {
  const outline = outlineOf(segmentation, image);
  const place = box ?? (segmentation === undefined ? undefined : rleBox(rasterize(segmentation, image)));
  return { box: place ?? [0, 0, 0, 0], ...(outline === undefined ? {} : { outline }) };
}
