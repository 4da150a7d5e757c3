/** Writes one PNG per image on which two detectors differ most, with both overlays side by side. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import type { ObjectChange } from '../../../detection/coco/changes.js';
import type { CocoDataset, CocoImage } from '../../../detection/coco/dataset.js';
import { nameCategory } from '../../../detection/coco/name-category.js';
import type { IouType } from '../../../detection/coco/params.js';
import { type CocoResult, scoreOf } from '../../../detection/coco/results.js';
import { rasterize } from '../../../detection/coco/segmentation.js';
import { groupByImage } from '../../../detection/coco/subset.js';
import { findImageFile } from '../../../detection/data/image-list.js';
import { decodeImage, type RgbImage } from '../../../detection/image/decode-image.js';
import { encodePng } from '../../../detection/image/encode-png.js';
import { rleBox } from '../../../detection/masks/rle.js';
import { type DrawnObject, drawObjects } from '../../../detection/overlay/draw-objects.js';
import { joinSides } from '../../../detection/overlay/join-sides.js';
import { writeFiles } from '../../process/write-files.js';

export interface PicturesJob {
  readonly folder: string;
  readonly imageFolder: string | undefined;
  readonly dataset: CocoDataset;
  readonly sides: readonly [Side, Side];
  /** Each image with a change gets a picture. The changes are numbered on it in this order, from 1. */
  readonly changes: readonly ObjectChange[];
  readonly minScore: number;
  readonly iouType: IouType;
}

interface Side {
  readonly name: string;
  readonly results: readonly CocoResult[];
}

/** Returns the names of the files. Either all files are written, or none. @throws CodedError `image-folder-missing`; DetectionError of the images. */
export async function writePictures(job: PicturesJob): Promise<readonly string[]> {
  const { folder, imageFolder, sides } = job;
  if (imageFolder === undefined)
    throw new CodedError('image-folder-missing', '--pictures needs the folder of the images', {
      help: 'give --image-folder: file names in the ground truth are relative to it',
    });
  const results = sides.map(side => groupByImage(side.results));
  const images = [...new Map(job.changes.map(({ image }) => [image.id, image])).values()];
  const files = images.map(image => ({
    path: join(folder, `${image.id}.png`),
    write: async (file: { writeFile(data: Uint8Array): Promise<void> }) => {
      const picture = await readPicture(image, imageFolder);
      const numbered = job.changes.filter(change => change.image.id === image.id);
      const [left, right] = (['before', 'after'] as const).map((side, index) =>
        drawObjects(picture, objectsOf(job, image, results[index]?.get(image.id) ?? [], numbered, side)),
      ) as [RgbImage, RgbImage];
      await file.writeFile(await encodePng(joinSides(left, right)));
    },
  }));
  await writeFiles(files);
  return images.map(({ id }) => `${id}.png`);
}

async function readPicture(image: CocoImage, folder: string): Promise<RgbImage> {
  const fileName = image.fileName ?? '';
  return decodeImage(await readFile(await findImageFile(folder, { id: image.id, fileName })), fileName);
}

/**
 * The objects to draw, changes first.
 * A changed object has its number, class and score. An object that this side misses is drawn with its true box.
 * An object that both sides detect equally is drawn as a frame only.
 */
function objectsOf(
  { dataset, minScore, iouType }: PicturesJob,
  image: CocoImage,
  results: readonly CocoResult[],
  changes: readonly ObjectChange[],
  side: 'before' | 'after',
): readonly DrawnObject[] {
  const names = new Map(dataset.categories.map(({ id, name }) => [id, name]));
  const changed = changes.flatMap((change, index): DrawnObject[] => {
    const number = index + 1;
    const seen = change[side];
    const isThere = seen?.lacks === 'nothing';
    if (seen !== undefined && isThere)
      return [
        {
          ...drawnOf(seen.result, image),
          tag: `${number} ${nameCategory(seen.result.categoryId, names)} ${seen.score.toFixed(2)}`,
          color: index,
        },
      ];
    if (change.truth === undefined) return [];
    const [x = 0, y = 0, width = 0, height = 0] = change.truth.box ?? [];
    return [
      {
        box: [x, y, x + width, y + height],
        mask: undefined,
        tag: `${number} no ${nameCategory(change.truth.categoryId, names)}`,
        color: index,
      },
    ];
  });
  const drawn = new Set(changes.map(change => change[side]?.result));
  const others = results
    .filter(result => scoreOf(result, iouType) >= minScore && !drawn.has(result))
    .map((result): DrawnObject => ({ ...drawnOf(result, image), mask: undefined, tag: '', color: changes.length }));
  return [...changed, ...others];
}

function drawnOf({ box, segmentation }: CocoResult, image: CocoImage): Pick<DrawnObject, 'box' | 'mask'> {
  const mask = segmentation === undefined ? undefined : rasterize(segmentation, image);
  const [x = 0, y = 0, width = 0, height = 0] = box ?? (mask === undefined ? [] : rleBox(mask));
  return { box: [x, y, x + width, y + height], mask };
}
