/** Detections, ground truth and images for the view "Results": masks and pixels of the images that are shown. */
import { withoutUndefined } from '../../../src/base/json/without-undefined.js';
import { type CocoId, compareIds } from '../../../src/detection/coco/coco-id.js';
import type { CocoAnnotation, CocoBox, CocoDataset, CocoImage } from '../../../src/detection/coco/dataset.js';
import type { CocoResult } from '../../../src/detection/coco/results.js';
import { rasterize, type Segmentation } from '../../../src/detection/coco/segmentation.js';
import { groupByImage } from '../../../src/detection/coco/subset.js';
import { encodeRleText } from '../../../src/detection/masks/rle-text.js';
import { keyOf } from '../../../src/report/saved/answer-key.js';
import type { SavedAnswer } from '../../../src/report/saved/saved-answers.js';
import type { ReadArtifact } from '../connected.js';
import { embedImage, imagesAtOnce } from '../embedded-image.js';
import { boxOf, measureDifference, pairDetections } from '../pair-detections.js';
import type { ReportParams } from '../params.js';
import type { DetectionSides } from '../readers/read-detections.js';

export interface ResultsOrder {
  readonly params: ReportParams;
  readonly read: ReadArtifact;
  /** Ids of images with changed objects, which are shown as large as those of `overlays`. */
  readonly changed: readonly string[];
}

/** @throws DetectionError of images. */
export async function saveResults(
  sides: DetectionSides,
  { params, read, changed }: ResultsOrder,
  answers: Record<string, SavedAnswer>,
): Promise<void> {
  const { dataset, imageFolder } = sides;
  const { overlays, views } = params;
  const images = new Map(dataset.images.map(image => [image.id, image]));
  const large = new Set(changed);
  const shown = chooseImages(sides, params);
  for (const { id } of shown.slice(0, overlays.images)) large.add(String(id));
  const withPixels = [...new Set([...shown, ...dataset.images.filter(({ id }) => large.has(String(id)))])];
  const withMasks = new Set(withPixels.map(({ id }) => id));
  const maskOf = (segmentation: Segmentation | undefined, image: CocoImage | undefined) =>
    image !== undefined && withMasks.has(image.id) ? encodeMask(segmentation, image) : {};
  const stages: string[] = [];
  for (const { name, value } of sides.sides) {
    const found = value
      .filter(({ score }) => score >= overlays.minScore)
      .map(result => {
        const image = images.get(result.imageId);
        return { ...resultOf(result, image), ...maskOf(result.segmentation, image) };
      });
    for (const { stage, output } of read('detections', name)) {
      answers[keyOf('artifact', { stage, port: output })] = { kind: 'json', value: found };
      stages.push(stage);
    }
  }
  const [first, ...others] = [...new Set(stages)];
  if (first === undefined) return;
  /** All sides were evaluated on one data set. */
  const putForAll = (parameters: Readonly<Record<string, string>>, answer: SavedAnswer): void => {
    const key = keyOf('input', { ...parameters, stage: first });
    answers[key] = answer;
    for (const stage of others) answers[keyOf('input', { ...parameters, stage })] = { kind: 'same', as: key };
  };
  // Images with pixels come first.
  const ordered = [...withPixels, ...dataset.images.filter(({ id }) => !withMasks.has(id))];
  const document = datasetOf({ ...dataset, images: ordered });
  const annotations = document.annotations.map((annotation, index) => {
    const { segmentation, imageId } = dataset.annotations[index] ?? {};
    return { ...annotation, ...maskOf(segmentation, imageId === undefined ? undefined : images.get(imageId)) };
  });
  putForAll({ name: 'data.annotations' }, { kind: 'json', value: { ...document, annotations } });
  const named = withPixels.filter(({ fileName }) => fileName !== undefined);
  const embedded = await imagesAtOnce(named, image =>
    embedImage(image, imageFolder, large.has(String(image.id)) ? Math.max(overlays.size, views.size) : views.size),
  );
  for (const [index, image] of named.entries()) {
    const answer = embedded[index];
    if (answer !== undefined) putForAll({ name: 'data.images', path: image.fileName ?? '' }, answer);
  }
}

/** As run lengths, where there is a mask. A mask that cannot be drawn is left out: the view shows what can be. */
function encodeMask(segmentation: Segmentation | undefined, image: CocoImage) {
  if (segmentation === undefined || segmentation.kind === 'invalid' || image.unsized === true) return {};
  const rle = rasterize(segmentation, image);
  return { segmentation: { size: [rle.height, rle.width], counts: encodeRleText(rle) } };
}

/** Those on which the first and the last side differ most, or the first by id. */
function chooseImages(
  { dataset, first, last }: DetectionSides,
  { overlays: { minScore, choose }, views }: ReportParams,
): readonly CocoImage[] {
  if (choose === 'first') return [...dataset.images].sort((a, b) => compareIds(a.id, b.id)).slice(0, views.images);
  const confident = (results: readonly CocoResult[]): ReadonlyMap<CocoId, readonly CocoResult[]> =>
    groupByImage(results.filter(({ score }) => score >= minScore));
  const [left, right] = [confident(first.value), confident(last.value)];
  return dataset.images
    .map(image => ({ image, difference: measureDifference(pairDetections(left.get(image.id) ?? [], right.get(image.id) ?? [], image)) }))
    .sort((a, b) => b.difference - a.difference || compareIds(a.image.id, b.image.id))
    .slice(0, views.images)
    .map(({ image }) => image);
}

/** Tenths of a pixel are finer than the picture. */
function roundBox(box: readonly number[]): number[] {
  return box.map(one => Math.round(one * 10) / 10);
}

function resultOf(result: CocoResult, image: CocoImage | undefined) {
  const { imageId, categoryId, score, maskScore } = result;
  const box = image === undefined ? result.box : boxOf(result, image);
  return {
    image_id: imageId,
    category_id: categoryId,
    ...(box === undefined ? {} : { bbox: roundBox(box) }),
    score,
    ...withoutUndefined({ mask_score: maskScore }),
  };
}

/** As a file of COCO that `parseCocoDataset` reads. */
export function datasetOf({ images, categories, annotations }: CocoDataset) {
  return {
    images: images.map(({ id, width, height, fileName }) => ({
      id,
      width,
      height,
      ...(fileName === undefined ? {} : { file_name: fileName }),
    })),
    categories: categories.map(({ id, name }) => ({ id, name })),
    annotations: annotations.map(annotationOf),
  };
}

function annotationOf({ id, imageId, categoryId, kind, area, box }: CocoAnnotation) {
  const place = box === undefined ? {} : { bbox: roundBox(box) };
  const size = area === undefined ? {} : { area: finiteArea(area, box) };
  return { id, image_id: imageId, category_id: categoryId, ...size, iscrowd: kind === 'crowd' ? 1 : 0, ...place };
}

/** JSON has no NaN and no infinity: the area of the box stands in for the one, the largest number for the other. */
function finiteArea(area: number, box: CocoBox | undefined): number {
  const [, , width, height] = box ?? [0, 0, 0, 0];
  const own = Number.isNaN(area) ? width * height : area;
  return Number.isNaN(own) ? 0 : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, own));
}
