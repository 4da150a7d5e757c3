/** Embeds images and image crops in the page, and places detections on them. */
import { readFile } from 'node:fs/promises';
import PQueue from 'p-queue';
import type { CocoImage } from '../../src/detection/coco/dataset.js';
import type { CocoResult } from '../../src/detection/coco/results.js';
import { rasterize } from '../../src/detection/coco/segmentation.js';
import { findImageFile } from '../../src/detection/data/image-list.js';
import { decodeImage, type RgbImage } from '../../src/detection/image/decode-image.js';
import { loadSharp } from '../../src/detection/image/load-sharp.js';
import { traceOutlines } from '../../src/detection/masks/mask-outline.js';
import { decodeMask } from '../../src/detection/masks/rle.js';
import type { PictureObject } from '../../src/report/picture.js';
import { boxOf } from './pair-detections.js';

/** A rectangle of whole pixels in an image. */
export interface Part {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface EmbeddedImage {
  /** A data URI. */
  readonly source: string;
  /** As it is shown. */
  readonly width: number;
  readonly height: number;
  readonly part: Part;
}

/** Images in memory at a time. The coders run in threads beside the page's own work. */
const AT_ONCE = 4;

/** The results in the order of the images. */
export function imagesAtOnce<T, Result>(images: readonly T[], draw: (image: T, index: number) => Promise<Result>): Promise<Result[]> {
  return new PQueue({ concurrency: AT_ONCE }).addAll(images.map((image, index) => () => draw(image, index)));
}

/** The pixels that the detector saw. */
export async function readImage(image: CocoImage, folder: string): Promise<RgbImage> {
  const fileName = image.fileName ?? '';
  return decodeImage(await readFile(await findImageFile(folder, { id: image.id, fileName })), fileName);
}

export function wholeOf({ width, height }: RgbImage): Part {
  return { left: 0, top: 0, width, height };
}

/** As WebP, its longer side at most `size`: nothing else of the file gets into the page. */
export async function embedPart({ data, width, height }: RgbImage, part: Part, size: number): Promise<EmbeddedImage> {
  const sharp = loadSharp();
  const whole = sharp(data, { raw: { width, height, channels: 3 } });
  const cut = part.width === width && part.height === height ? whole : whole.extract(part);
  const { data: bytes, info } = await cut
    .resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 82 })
    .toBuffer({ resolveWithObject: true });
  return { source: `data:image/webp;base64,${bytes.toString('base64')}`, width: info.width, height: info.height, part };
}

/** Where a detection lies on what is shown. */
export function placeResult(result: CocoResult, image: CocoImage, shown: EmbeddedImage): Pick<PictureObject, 'box' | 'outlines'> {
  return { box: placeBox(boxOf(result, image), shown), outlines: traceMask(result, image, shown) };
}

/** @param box x, y, width, height in the image. */
export function placeBox(box: readonly number[], { width, height, part }: EmbeddedImage): readonly number[] {
  const [x = 0, y = 0, boxWidth = 0, boxHeight = 0] = box;
  const scale = { x: width / part.width, y: height / part.height };
  return [(x - part.left) * scale.x, (y - part.top) * scale.y, boxWidth * scale.x, boxHeight * scale.y];
}

/** At the displayed size, because corners closer than a pixel are not visible. */
function traceMask({ segmentation }: CocoResult, image: CocoImage, { width, height, part }: EmbeddedImage): PictureObject['outlines'] {
  if (segmentation === undefined) return [];
  const mask = decodeMask(rasterize(segmentation, image));
  if (width === image.width && height === image.height) return traceOutlines(mask, height, width);
  const small = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const row = (part.top + Math.floor(((y + 0.5) * part.height) / height)) * image.width;
    for (let x = 0; x < width; x++) small[y * width + x] = mask[row + part.left + Math.floor(((x + 0.5) * part.width) / width)] ?? 0;
  }
  return traceOutlines(small, height, width);
}
