/** Reads the images of a data set, and codes them for the page. */
import { readFile } from 'node:fs/promises';
import PQueue from 'p-queue';
import type { CocoImage } from '../../src/detection/coco/dataset.js';
import { findImageFile } from '../../src/detection/data/image-list.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { loadSharp } from '../../src/detection/image/load-sharp.js';
import type { SavedAnswer } from '../../src/report/saved/saved-answers.js';

/** Images in memory at a time. The coders run in threads beside the page's own work. */
const AT_ONCE = 4;

/** The results in the order of the images. */
export function imagesAtOnce<T, Result>(images: readonly T[], embed: (image: T) => Promise<Result>): Promise<Result[]> {
  return new PQueue({ concurrency: AT_ONCE }).addAll(images.map(image => () => embed(image)));
}

/** The pixels that the detector saw as WebP, its longer side at most `size`: nothing else of the file gets into the page. */
export async function embedImage(image: CocoImage, folder: string, size: number): Promise<SavedAnswer> {
  const fileName = image.fileName ?? '';
  const { data, width, height } = await decodeImage(await readFile(await findImageFile(folder, { id: image.id, fileName })), fileName);
  const bytes = await loadSharp()(data, { raw: { width, height, channels: 3 } })
    .resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 82 })
    .toBuffer();
  return { kind: 'bytes', type: 'image/webp', base64: bytes.toString('base64') };
}
