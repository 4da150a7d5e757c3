/** Which objects and detections meet in which image, and how much does each pair overlap? */
import { getDefined } from '../../base/invariant.js';
import { DetectionError } from '../detection-error.js';
import { type Rle, rleArea, rleBox } from '../rle.js';
import { intersectionArea, type TruthKind } from '../rle-combine.js';
import type { CocoBox, CocoDataset, CocoImage } from './dataset.js';
import { indexById } from './image-entry.js';
import type { CocoParams, IouType } from './params.js';
import { type CocoResult, scoreOf } from './results.js';
import { rasterise, type Segmentation } from './segmentation.js';

/** What overlap is measured on: a box, or a mask with what is asked of it often. */
type Region = { readonly kind: 'box'; readonly box: CocoBox; readonly area: number } | MaskRegion;
type MaskRegion = { readonly kind: 'mask'; readonly box: CocoBox; readonly area: number; readonly rle: Rle };

/** An annotated object. */
export interface Truth {
  readonly id: number;
  readonly kind: TruthKind;
  /** As annotated: it decides the size class. */
  readonly area: number;
  readonly region: Region;
}

export interface Detection {
  readonly score: number;
  /** Of the box where the result has one (see `boxOf`), else of the mask: it decides the size class. */
  readonly area: number;
  readonly region: Region;
}

/** One image and category that has at least an object or a detection. */
export interface Encounter {
  readonly truths: readonly Truth[];
  /** By descending score, equal ones in the order of the file; the best `maxDetections` only. */
  readonly detections: readonly Detection[];
}

/**
 * Per category (one for all where they are merged), by ascending id: the encounters by ascending image id.
 * @throws DetectionError `coco-no-region` where an annotation lacks the box or mask that `iouType` needs, or results partly lack boxes.
 */
export function gatherEncounters(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: IouType,
  params: CocoParams,
): Encounter[][] {
  checkBoxes(results);
  const images = indexById(dataset.images, 'image');
  const most = Math.max(...params.maxDetections);
  const truths = groupBy(dataset.annotations, entry => `${entry.categoryId} ${entry.imageId}`);
  const detections = groupBy(results, entry => `${entry.categoryId} ${entry.imageId}`);
  const imageIds = [...images.keys()].sort((a, b) => a - b);
  const categoryIds = dataset.categories.map(({ id }) => id).sort((a, b) => a - b);
  const groups = params.categories === 'merged' ? [categoryIds] : categoryIds.map(id => [id]);
  return groups.map(ids =>
    imageIds.flatMap(imageId => {
      const image = getDefined(images.get(imageId), `image ${imageId}`);
      const found = ids.flatMap(id => detections.get(`${id} ${imageId}`) ?? []);
      const annotated = ids.flatMap(id => truths.get(`${id} ${imageId}`) ?? []);
      if (found.length === 0 && annotated.length === 0) return [];
      const best = found.toSorted((a, b) => scoreOf(b, iouType) - scoreOf(a, iouType)).slice(0, most);
      return [
        {
          truths: annotated.map(({ id, kind, area, box, segmentation }) => ({
            id,
            kind,
            area,
            region: regionOf(`annotation ${id}`, box, segmentation, image, iouType),
          })),
          detections: best.map(result => describeDetection(result, image, iouType)),
        },
      ];
    }),
  );
}

/** Row-major [detections, truths]: intersection over union, or over the detection alone where the truth is a crowd. */
export function computeOverlaps({ truths, detections }: Encounter): Float64Array {
  const overlaps = new Float64Array(detections.length * truths.length);
  let i = 0;
  for (const detection of detections) for (const truth of truths) overlaps[i++] = overlap(detection.region, truth.region, truth.kind);
  return overlaps;
}

function overlap(detection: Region, truth: Region, kind: TruthKind): number {
  const shared = intersect(detection, truth);
  if (shared === 0) return 0;
  return shared / (kind === 'crowd' ? detection.area : detection.area + truth.area - shared);
}

function intersect(a: Region, b: Region): number {
  const width = Math.min(a.box[0] + a.box[2], b.box[0] + b.box[2]) - Math.max(a.box[0], b.box[0]);
  const height = Math.min(a.box[1] + a.box[3], b.box[1] + b.box[3]) - Math.max(a.box[1], b.box[1]);
  if (width <= 0 || height <= 0) return 0;
  return a.kind === 'mask' && b.kind === 'mask' ? intersectionArea(a.rle, b.rle) : width * height;
}

function describeDetection(result: CocoResult, image: CocoImage, iouType: IouType): Detection {
  const what = `a result of image ${image.id}`;
  const box = boxOf(result, iouType);
  const score = scoreOf(result, iouType);
  if (box === undefined) {
    const mask = maskRegion(what, undefined, result.segmentation, image);
    return { score, area: mask.area, region: iouType === 'segm' ? mask : { kind: 'box', box: mask.box, area: boxArea(mask.box) } };
  }
  return { score, area: boxArea(box), region: iouType === 'segm' ? maskRegion(what, box, result.segmentation, image) : boxRegion(box) };
}

/** A result whose mask has a score of its own is two in one, a box and a mask, each measured as if it stood alone. */
function boxOf({ box, segmentation, maskScore }: CocoResult, iouType: IouType): CocoBox | undefined {
  return iouType === 'segm' && maskScore !== undefined && segmentation !== undefined ? undefined : box;
}

function regionOf(
  what: string,
  box: CocoBox | undefined,
  segmentation: Segmentation | undefined,
  image: CocoImage,
  iouType: IouType,
): Region {
  if (iouType === 'segm') return maskRegion(what, undefined, segmentation, image);
  if (box === undefined) throw noRegion(what, 'bbox');
  return boxRegion(box);
}

/** Where there is no mask, the box's rectangle stands in for it, if one is given. */
function maskRegion(what: string, box: CocoBox | undefined, segmentation: Segmentation | undefined, image: CocoImage): MaskRegion {
  const drawn = segmentation ?? (box === undefined ? undefined : rectangle(box));
  if (drawn === undefined) throw noRegion(what, 'segmentation');
  const rle = rasterise(drawn, image);
  return { kind: 'mask', rle, box: rleBox(rle), area: rleArea(rle) };
}

function rectangle([x, y, width, height]: CocoBox): Segmentation {
  return { kind: 'polygons', polygons: [[x, y, x, y + height, x + width, y + height, x + width, y]] };
}

function boxRegion(box: CocoBox): Region {
  return { kind: 'box', box, area: boxArea(box) };
}

function boxArea([, , width, height]: CocoBox): number {
  return width * height;
}

function noRegion(what: string, member: string): DetectionError {
  return new DetectionError('coco-no-region', `${what} has no ${member}, which these figures are about`);
}

/** The size class of a detection is decided by its box or by its mask: the same for all of them. */
function checkBoxes(results: readonly CocoResult[]): void {
  const index = results.findIndex(result => (result.box === undefined) !== (results[0]?.box === undefined));
  if (index < 0) return;
  const [has, lacks] = results[0]?.box === undefined ? [index, 0] : [0, index];
  throw new DetectionError('coco-no-region', `result ${has} has a bbox and result ${lacks} has none; give all of them one, or none`);
}

function groupBy<T>(members: readonly T[], keyOf: (member: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of members) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}
