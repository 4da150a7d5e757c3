/** Detections, ground truth and images for the view "Results": what the sections of the page compare, without masks. */
import { type CocoId, compareIds } from '../../../src/detection/coco/coco-id.js';
import type { CocoAnnotation, CocoBox, CocoDataset, CocoImage } from '../../../src/detection/coco/dataset.js';
import type { CocoResult } from '../../../src/detection/coco/results.js';
import { groupByImage } from '../../../src/detection/coco/subset.js';
import { keyOf } from '../../../src/report/saved/answer-key.js';
import type { SavedAnswer } from '../../../src/report/saved/saved-answers.js';
import type { ReadArtifact } from '../connected.js';
import { embedPart, imagesAtOnce, readImage, wholeOf } from '../embedded-image.js';
import { boxOf, measureDifference, pairDetections } from '../pair-detections.js';
import type { ReportParams } from '../params.js';
import type { DetectionSides } from '../readers/read-detections.js';

/** @throws DetectionError of images. */
export async function saveResults(
  sides: DetectionSides,
  { overlays, views }: ReportParams,
  read: ReadArtifact,
  answers: Record<string, SavedAnswer>,
): Promise<void> {
  const { dataset, imageFolder } = sides;
  const images = new Map(dataset.images.map(image => [image.id, image]));
  const stages: string[] = [];
  for (const { name, value } of sides.sides) {
    const found = value.filter(({ score }) => score >= overlays.minScore).map(result => resultOf(result, images.get(result.imageId)));
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
  const shown = chooseImages(sides, overlays.minScore, views.images);
  // Images with pixels come first.
  const ordered = [...shown, ...dataset.images.filter(image => !shown.includes(image))];
  putForAll({ name: 'data.annotations' }, { kind: 'json', value: datasetOf({ ...dataset, images: ordered }) });
  const named = shown.filter(({ fileName }) => fileName !== undefined);
  const sources = await imagesAtOnce(named, async image => {
    const picture = await readImage(image, imageFolder);
    return (await embedPart(picture, wholeOf(picture), views.size)).source;
  });
  for (const [index, image] of named.entries()) {
    const [, type = '', base64 = ''] = /^data:([^;]+);base64,(.*)$/.exec(sources[index] ?? '') ?? [];
    putForAll({ name: 'data.images', path: image.fileName ?? '' }, { kind: 'bytes', type, base64 });
  }
}

/** Those on which the first and the last side differ most. */
function chooseImages({ dataset, first, last }: DetectionSides, minScore: number, most: number): readonly CocoImage[] {
  const confident = (results: readonly CocoResult[]): ReadonlyMap<CocoId, readonly CocoResult[]> =>
    groupByImage(results.filter(({ score }) => score >= minScore));
  const [left, right] = [confident(first.value), confident(last.value)];
  return dataset.images
    .map(image => ({ image, difference: measureDifference(pairDetections(left.get(image.id) ?? [], right.get(image.id) ?? [], image)) }))
    .sort((a, b) => b.difference - a.difference || compareIds(a.image.id, b.image.id))
    .slice(0, most)
    .map(({ image }) => image);
}

/** Tenths of a pixel are finer than the picture. */
function roundBox(box: readonly number[]): number[] {
  return box.map(one => Math.round(one * 10) / 10);
}

function resultOf(result: CocoResult, image: CocoImage | undefined) {
  const { imageId, categoryId, score } = result;
  const box = image === undefined ? result.box : boxOf(result, image);
  return { image_id: imageId, category_id: categoryId, ...(box === undefined ? {} : { bbox: roundBox(box) }), score };
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
