/** Writes the overlay of detected objects as one PNG per picture, named after the picture. */

import { join } from 'node:path';
import type { NewFile } from '../../../base/files/write-beside.js';
import { type CocoId, numberOf } from '../../../detection/coco/coco-id.js';
import { nameCategory } from '../../../detection/coco/name-category.js';
import type { CocoResult } from '../../../detection/coco/results.js';
import type { RgbImage } from '../../../detection/image/decode-image.js';
import { encodePng } from '../../../detection/image/encode-png.js';
import { type DrawnObject, drawObjects } from '../../../detection/overlay/draw-objects.js';
import { writeFiles } from '../../process/write-files.js';

export interface OverlayJob {
  readonly folder: string;
  /** Relative. ".png" is appended, so that a.jpg and a.png get different files. */
  readonly fileName: string;
  readonly image: RgbImage;
  readonly results: readonly CocoResult[];
  readonly categories: ReadonlyMap<CocoId, string>;
  readonly minScore: number;
}

export async function writeOverlay({ folder, fileName, image, results, categories, minScore }: OverlayJob): Promise<void> {
  const objects = results.filter(({ score }) => score >= minScore).map(result => drawnOf(result, categories));
  const bytes = await encodePng(drawObjects(image, objects));
  const file: NewFile = { path: join(folder, `${fileName}.png`), write: async handle => void (await handle.writeFile(bytes)) };
  await writeFiles([file]);
}

function drawnOf({ categoryId, score, box, segmentation }: CocoResult, categories: ReadonlyMap<CocoId, string>): DrawnObject {
  const [x = 0, y = 0, width = 0, height = 0] = box ?? [];
  return {
    box: [x, y, x + width, y + height],
    mask: segmentation?.kind === 'rle' ? segmentation.rle : undefined,
    tag: `${nameCategory(categoryId, categories)} ${score.toFixed(2)}`,
    color: Math.abs(numberOf(categoryId)),
  };
}
