/** Reads ground truth and detections of each side, for all sections about detections. */
import { type CocoId, compareIds } from '../../../src/detection/coco/coco-id.js';
import { type CocoDataset, parseCocoDataset } from '../../../src/detection/coco/dataset.js';
import type { IouType } from '../../../src/detection/coco/params.js';
import { type CocoResult, parseCocoResults } from '../../../src/detection/coco/results.js';
import { rasterize } from '../../../src/detection/coco/segmentation.js';
import { takeImages } from '../../../src/detection/coco/subset.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readDataFile } from '../../../src/stage/json-file.js';
import { getInputRecord } from '../../../src/stage/paths.js';
import { StageError } from '../../../src/stage/stage-error.js';
import { type Named, readEntries } from '../entries.js';

export interface DetectionSides {
  /** Of the images that the sides were evaluated on, also those in which nothing was found: `samples` takes the first by id. */
  readonly dataset: CocoDataset;
  readonly imageFolder: string;
  readonly first: Named<readonly CocoResult[]>;
  readonly last: Named<readonly CocoResult[]>;
  /** The first and the last among them. */
  readonly sides: readonly Named<readonly CocoResult[]>[];
  /** What is compared: masks, where every object and every detection has one. */
  readonly iouType: IouType;
}

/**
 * Undefined where neither detections nor data are connected.
 * @param evaluated the number of images that `evaluate` took, by the name of a side.
 * @throws StageError `report-overlays`; DetectionError of data set and results.
 */
export async function readDetections(
  inputs: InputPaths,
  order: readonly string[],
  evaluated: ReadonlyMap<string, number>,
): Promise<DetectionSides | undefined> {
  const names = typeof inputs.detections === 'object' ? Object.keys(inputs.detections) : [];
  if (names.length === 0 && inputs.data === undefined) return undefined;
  if (inputs.data === undefined || names.length < 2) {
    throw new StageError(
      'report-overlays',
      `overlays need \`data\` and two or more \`detections\`; there ${names.length === 1 ? 'is' : 'are'} ${names.length}${inputs.data === undefined ? ', and no `data`' : ''}`,
      {
        help: 'connect both, or neither',
      },
    );
  }
  const { annotations = '', images = '' } = getInputRecord(inputs, 'data');
  const whole = parseCocoDataset(await readDataFile(annotations));
  const sides = await readEntries(inputs, 'detections', order, value => parseCocoResults(value, whole));
  const [first, last] = [sides[0], sides.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const results = sides.flatMap(({ value }) => value);
  const counts = sides.flatMap(({ name }) => evaluated.get(name) ?? []);
  const dataset = drawMasks(takeImages(whole, chooseImages(whole, results, counts)));
  const hasMasks = [...dataset.annotations, ...results].every(({ segmentation }) => segmentation !== undefined);
  return { dataset, imageFolder: images, first, last, sides, iouType: hasMasks ? 'segm' : 'bbox' };
}

/** Rasterizes the polygons of the ground truth once for all sections and sides. */
function drawMasks(dataset: CocoDataset): CocoDataset {
  const images = new Map(dataset.images.map(image => [image.id, image]));
  const annotations = dataset.annotations.map(annotation => {
    const [image, { segmentation }] = [images.get(annotation.imageId), annotation];
    // Without a size there is no mask: whoever needs it reports it.
    if (segmentation?.kind !== 'polygons' || image === undefined || image.unsized) return annotation;
    return { ...annotation, segmentation: { kind: 'rle', rle: rasterize(segmentation, image) } as const };
  });
  return { ...dataset, annotations };
}

/** The first images by id: as many as were evaluated, or, if no side says so, up to the last one with a detection. */
function chooseImages({ images }: CocoDataset, results: readonly CocoResult[], counts: readonly number[]): ReadonlySet<CocoId> {
  const found = new Set(results.map(({ imageId }) => imageId));
  const sorted = images.map(({ id }) => id).sort(compareIds);
  const last = sorted.findLastIndex(id => found.has(id));
  return new Set(sorted.slice(0, Math.max(last + 1, ...counts)));
}
