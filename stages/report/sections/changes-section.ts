/** Report section on lost, found and changed objects, sorted by cost, with image crops of both sides. */

import {
  CHANGE_RULE,
  type ChangeKind,
  type Changes,
  findChanges,
  type ObjectChange,
  type SeenObject,
} from '../../../src/detection/coco/changes.js';
import type { CocoId } from '../../../src/detection/coco/coco-id.js';
import { nameCategory } from '../../../src/detection/coco/name-category.js';
import { rasterize } from '../../../src/detection/coco/segmentation.js';
import type { RgbImage } from '../../../src/detection/image/decode-image.js';
import { rleBox } from '../../../src/detection/masks/rle.js';
import type { Color } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { type Html, type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatDelta, formatFixed } from '../../../src/report/numbers.js';
import { drawPicture, drawPictureImage, type PictureObject } from '../../../src/report/picture.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import { type EmbeddedImage, embedPart, imagesAtOnce, type Part, placeBox, placeResult, readImage } from '../embedded-image.js';
import type { ReportParams } from '../params.js';
import type { DetectionSides } from '../readers/read-detections.js';

/** Longer side of a picture in the table. */
const PICTURE_SIZE = 160;

/** @throws DetectionError of images; `coco-no-region`. */
export async function drawChanges(
  { dataset, imageFolder, first, last, iouType }: DetectionSides,
  { changes: most, minScore }: ReportParams['overlays'],
): Promise<Section> {
  const changes = findChanges(dataset, first.value, last.value, { ...CHANGE_RULE, iouType, minScore });
  const shown = changes.changes.slice(0, most);
  const pictures = await imagesAtOnce(shown, (change, index) => drawCutOut(change, index, imageFolder, [first.name, last.name]));
  const names = new Map(dataset.categories.map(({ id, name }) => [id, name]));
  return {
    id: 'changes',
    title: 'Lost and found objects',
    body: html`<p>${describe(changes, [first.name, last.name])} Detections count from a score of ${minScore}; an object is found where ${iouType === 'segm' ? 'masks' : 'boxes'} of its class overlap by half.</p>
${
  shown.length === 0
    ? undefined
    : drawTable({
        caption: `The ${shown.length} worst of ${formatCount(changes.changes.length)} changes, by cost: the score of a lost object or of a new false positive, or the loss of overlap and score of a changed one.`,
        columns: [
          text('Change'),
          text('Class'),
          number('Image'),
          number('Cost', 'Score of a lost object or of a new false positive, or loss of overlap and score of a changed object'),
          number(`Score, ${first.name}`),
          number(`Score, ${last.name}`),
          number(`IoU, ${first.name}`),
          number(`IoU, ${last.name}`),
          text(`${first.name}, ${last.name}`),
        ],
        rows: shown.map((change, index) => rowOf(change, names, pictures[index])),
      })
}`,
  };
}

function describe({ changes, kept, missed }: Changes, [before, after]: readonly [string, string]): string {
  const count = (kind: ChangeKind): string => formatCount(changes.filter(change => change.kind === kind).length);
  return `Objects from ${before} to ${after}: lost ${count('lost')}, found ${count('found')}, changed ${count('changed')}, kept ${formatCount(kept)}, missed by both ${formatCount(missed)}; false positives: new ${count('extra')}, resolved ${count('resolved')}.`;
}

const WORDS: Readonly<Record<ChangeKind, string>> = {
  lost: 'lost',
  found: 'found',
  changed: 'changed',
  extra: 'new false positive',
  resolved: 'resolved false positive',
};

const REASONS: Readonly<Record<SeenObject['lacks'], string>> = {
  nothing: '',
  score: 'score too low',
  class: 'another class',
  place: 'too little overlap',
};

function rowOf(change: ObjectChange, names: ReadonlyMap<CocoId, string>, picture: Html | undefined): readonly HtmlValue[] {
  const { kind, image, truth, before, after, cost } = change;
  const categoryId = truth?.categoryId ?? before?.result.categoryId ?? after?.result.categoryId ?? 0;
  const iou = (seen: SeenObject | undefined): string => (seen === undefined || truth === undefined ? '–' : formatFixed(seen.iou, 3));
  const score = (seen: SeenObject | undefined): string => (seen === undefined ? '–' : formatFixed(seen.score, 3));
  const reason = REASONS[(kind === 'lost' ? after : kind === 'found' ? before : undefined)?.lacks ?? 'nothing'];
  return [
    html`${WORDS[kind]}${reason === '' ? undefined : html` <span class="soft">${reason}</span>`}`,
    nameCategory(categoryId, names),
    String(image.id),
    formatDelta(cost, 3),
    score(before),
    score(after),
    iou(before),
    iou(after),
    picture,
  ];
}

async function drawCutOut(change: ObjectChange, index: number, folder: string, names: readonly [string, string]): Promise<Html> {
  const picture = await readImage(change.image, folder);
  const embedded = await embedPart(picture, cutAround(change, picture), PICTURE_SIZE);
  const id = `change-${index + 1}`;
  const sides = (['before', 'after'] as const).map((side, place) =>
    drawPicture({
      image: id,
      width: embedded.width,
      height: embedded.height,
      description: `${names[place]}: ${change[side]?.lacks === 'nothing' ? 'detected' : 'not detected'}.`,
      objects: objectsOf(change, change[side], embedded),
    }),
  );
  return html`<div class="cut-outs">${drawPictureImage(id, embedded.source, embedded)}${sides}</div>`;
}

/** The object as annotated, dashed, and what the side has for it. */
function objectsOf(change: ObjectChange, seen: SeenObject | undefined, shown: EmbeddedImage): readonly PictureObject[] {
  const box = change.truth?.box;
  const truth: readonly PictureObject[] =
    box === undefined ? [] : [{ tag: '', color: 'green', box: placeBox(box, shown), outlines: [], kind: 'lone' }];
  if (seen === undefined) return truth;
  const color: Color = change.truth === undefined || seen.lacks !== 'nothing' ? 'red' : 'blue';
  return [...truth, { tag: '', color, ...placeResult(seen.result, change.image, shown), kind: 'paired' }];
}

/** All that the change is about, with a third of its size around it, in the image. */
function cutAround({ image, truth, before, after }: ObjectChange, picture: RgbImage): Part {
  const boxes = [truth, before?.result, after?.result].flatMap(one => {
    if (one === undefined) return [];
    if (one.box !== undefined) return [one.box];
    return one.segmentation === undefined ? [] : [rleBox(rasterize(one.segmentation, image))];
  });
  const [left, top] = [Math.min(...boxes.map(([x]) => x)), Math.min(...boxes.map(([, y]) => y))];
  const [right, bottom] = [Math.max(...boxes.map(([x, , width]) => x + width)), Math.max(...boxes.map(([, y, , height]) => y + height))];
  const margin = Math.max(8, Math.max(right - left, bottom - top) / 3);
  const clip = (value: number, most: number): number => Math.min(Math.max(Math.round(value), 0), most);
  const from = { left: clip(left - margin, picture.width - 1), top: clip(top - margin, picture.height - 1) };
  return {
    ...from,
    width: Math.max(1, clip(right + margin, picture.width) - from.left),
    height: Math.max(1, clip(bottom + margin, picture.height) - from.top),
  };
}
