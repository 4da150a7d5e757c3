/** Report section with the detections of the first and the last side on the same images, and the scores of each pair. */
import { type CocoId, compareIds } from '../../../src/detection/coco/coco-id.js';
import type { CocoDataset, CocoImage } from '../../../src/detection/coco/dataset.js';
import { nameCategory } from '../../../src/detection/coco/name-category.js';
import type { CocoResult } from '../../../src/detection/coco/results.js';
import { groupByImage } from '../../../src/detection/coco/subset.js';
import { seriesColor } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { type Html, html } from '../../../src/report/html.js';
import { formatCount, formatFixed } from '../../../src/report/numbers.js';
import { drawPicture, drawPictureImage, type PictureObject } from '../../../src/report/picture.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import { type EmbeddedImage, embedPart, imagesAtOnce, placeResult, readImage, wholeOf } from '../embedded-image.js';
import { measureDifference, type Pair, pairDetections } from '../pair-detections.js';
import type { ReportParams } from '../params.js';
import type { DetectionSides } from '../readers/read-detections.js';

interface Sample {
  readonly image: CocoImage;
  readonly pairs: readonly Pair[];
}

interface Sides {
  readonly left: string;
  readonly right: string;
  readonly categories: ReadonlyMap<CocoId, string>;
}

/** Undefined if none is requested. @throws DetectionError of images. */
export async function drawOverlays(
  { dataset, imageFolder, first, last }: DetectionSides,
  params: ReportParams['overlays'],
): Promise<Section | undefined> {
  if (params.images === 0) return undefined;
  const sides: Sides = {
    left: first.name,
    right: last.name,
    categories: new Map(dataset.categories.map(({ id, name }) => [id, name])),
  };
  const samples = chooseSamples(dataset, first.value, last.value, params);
  if (samples.length === 0) return undefined;
  const drawn = await imagesAtOnce(samples, sample => drawSample(sample, sides, imageFolder, params));
  const chosen =
    params.choose === 'differ' ? `The ${samples.length} images on which the two differ most` : `The first ${samples.length} images`;
  return {
    id: 'detections',
    title: 'Detections',
    body: html`<p>${chosen}, with detections from a score of ${params.minScore}. Matched objects have the same number and color on both sides; unmatched ones are dashed.</p>
${drawn}`,
  };
}

function chooseSamples(
  dataset: CocoDataset,
  left: readonly CocoResult[],
  right: readonly CocoResult[],
  { images, choose, minScore }: ReportParams['overlays'],
): readonly Sample[] {
  const [leftByImage, rightByImage] = [groupByImage(left), groupByImage(right)];
  const confident = (results: readonly CocoResult[] | undefined): readonly CocoResult[] =>
    (results ?? []).filter(({ score }) => score >= minScore);
  const samples = dataset.images
    .filter(({ id }) => leftByImage.has(id) || rightByImage.has(id))
    .sort((a, b) => compareIds(a.id, b.id))
    .map(image => ({ image, pairs: pairDetections(confident(leftByImage.get(image.id)), confident(rightByImage.get(image.id)), image) }));
  if (choose === 'first') return samples.slice(0, images);
  const ranked = samples.map(sample => ({ sample, difference: measureDifference(sample.pairs) }));
  return ranked
    .sort((a, b) => b.difference - a.difference || compareIds(a.sample.image.id, b.sample.image.id))
    .map(({ sample }) => sample)
    .slice(0, images);
}

async function drawSample(sample: Sample, sides: Sides, folder: string, { size }: ReportParams['overlays']): Promise<Html> {
  const { image, pairs } = sample;
  const picture = await readImage(image, folder);
  const embedded = await embedPart(picture, wholeOf(picture), size);
  const id = `image-${image.id}`;
  const figures = (['left', 'right'] as const).map(side => {
    const count = pairs.filter(pair => pair[side] !== undefined).length;
    const drawn = drawPicture({
      image: id,
      width: embedded.width,
      height: embedded.height,
      description: `Image ${image.id} with ${count} detections of ${sides[side]}; the table below lists them.`,
      objects: pairs.flatMap((pair, index) => drawObject(pair, side, index, image, embedded)),
    });
    return html`<figure><figcaption>${sides[side]}: ${count}</figcaption>${drawn}</figure>`;
  });
  return html`<div class="sample"><h3>Image ${String(image.id)} <span class="mute">${image.fileName}</span></h3>
${drawPictureImage(id, embedded.source, embedded)}<div class="pair">${figures}</div>
<details class="plain"><summary>${formatCount(pairs.length)} objects</summary>${drawPairs(pairs, sides)}</details></div>
`;
}

function drawObject(pair: Pair, side: 'left' | 'right', index: number, image: CocoImage, shown: EmbeddedImage): readonly PictureObject[] {
  const result = pair[side];
  if (result === undefined) return [];
  return [
    {
      tag: String(index + 1),
      color: seriesColor(index),
      ...placeResult(result, image, shown),
      kind: pair.left === undefined || pair.right === undefined ? 'lone' : 'paired',
    },
  ];
}

function drawPairs(pairs: readonly Pair[], { left, right, categories }: Sides): Html {
  const masksScored = pairs.some(pair => (pair.left ?? pair.right)?.maskScore !== undefined);
  const shown = (result: CocoResult | undefined, score: number | undefined): string => {
    if (result === undefined) return 'not found';
    return score === undefined ? '–' : formatFixed(score, 3);
  };
  return drawTable({
    caption: 'Objects on the two sides.',
    columns: [
      text('No.'),
      text('Class'),
      number(`Score, ${left}`),
      number(`Score, ${right}`),
      ...(masksScored ? [number(`Mask score, ${left}`), number(`Mask score, ${right}`)] : []),
      number('Box IoU'),
    ],
    rows: pairs.map((pair, index) => {
      const { categoryId } = pair.left ?? pair.right ?? { categoryId: 0 };
      return [
        String(index + 1),
        nameCategory(categoryId, categories),
        shown(pair.left, pair.left?.score),
        shown(pair.right, pair.right?.score),
        ...(masksScored ? [shown(pair.left, pair.left?.maskScore), shown(pair.right, pair.right?.maskScore)] : []),
        pair.iou === undefined ? '–' : formatFixed(pair.iou, 3),
      ];
    }),
  });
}
