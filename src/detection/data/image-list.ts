/** Lists the images of a data set: from COCO annotations, or from a folder. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Json } from '../../base/json.js';
import { type CocoId, compareIds, indexById, readId } from '../coco/coco-id.js';
import { parseFileName } from '../coco/image-entry.js';
import { readList, readObject } from '../coco/reading.js';
import { DetectionError } from '../error/detection-error.js';

export interface ListedImage {
  readonly id: CocoId;
  /** Relative to the image folder. */
  readonly fileName: string;
}

/**
 * The images of a COCO annotations file, by ascending id; of equal ids the last one. The rest of the file is ignored.
 * @throws DetectionError `coco-field` where `images` is missing or an entry lacks id or file name, `coco-file-name`.
 */
export function listImages(annotations: Json): ListedImage[] {
  const images = readList(readObject(annotations, 'the file'), 'images', 'the file').map((entry, index) => {
    const place = `images[${index}]`;
    const object = readObject(entry, place);
    return { id: readId(object, 'id', place), fileName: parseFileName(object, place) };
  });
  return [...indexById(images).values()].sort((a, b) => compareIds(a.id, b.id));
}

/** File extensions of images, compared without case. */
export const IMAGE_EXTENSIONS: readonly string[] = ['.jpg', '.jpeg', '.png', '.webp', '.gif', '.tif', '.tiff'];

/** The images in a folder and its subfolders, in the order of their paths, numbered from 1. Files with other extensions are ignored. */
export async function listImageFolder(folder: string): Promise<ListedImage[]> {
  const names = await listImageNames(folder, '');
  return names.map((fileName, index) => ({ id: index + 1, fileName }));
}

async function listImageNames(folder: string, under: string): Promise<string[]> {
  const entries = await readdir(join(folder, under), { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await listImageNames(folder, path)));
    else if (IMAGE_EXTENSIONS.includes(extname(entry.name).toLowerCase())) found.push(path);
  }
  return found;
}

/**
 * The first `count` images; all where `count` is undefined.
 * @throws DetectionError `no-images` where there are none; `too-few-images` where there are fewer than `count`.
 */
export function takeFirstImages<Image extends ListedImage>(images: readonly Image[], count: number | undefined): readonly Image[] {
  if (images.length === 0) throw new DetectionError('no-images', 'the data set has no images');
  if (count === undefined) return images;
  if (count > images.length) {
    throw new DetectionError('too-few-images', `${count} images are requested, but the data set has only ${images.length}`, {
      help: `set \`samples\` to at most ${images.length}`,
    });
  }
  return images.slice(0, count);
}

/**
 * `count` images of a folder, in the order of their paths; all where `count` is undefined. Takes the first image of each subfolder, then the second of
 * each, so that a few samples of a data set with one folder per class cover all classes.
 * @throws as `takeFirstImages`.
 */
export function takeFromFolders<Image extends ListedImage>(images: readonly Image[], count: number | undefined): readonly Image[] {
  const seen = new Map<string, number>();
  const ranked = images.map(image => {
    const folder = dirname(image.fileName);
    const rank = seen.get(folder) ?? 0;
    seen.set(folder, rank + 1);
    return { image, rank };
  });
  const taken = takeFirstImages(
    ranked.sort((a, b) => a.rank - b.rank).map(({ image }) => image),
    count,
  );
  return [...taken].sort((a, b) => compareIds(a.id, b.id));
}

/** The path of an image. @throws DetectionError `image-missing` where the file does not exist. */
export async function findImageFile(folder: string, { id, fileName }: ListedImage): Promise<string> {
  const path = join(folder, fileName);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) return path;
  throw new DetectionError('image-missing', `image ${id}: the image folder "${basename(folder)}" has no file "${fileName}"`, {
    help: 'check that annotations and images match',
  });
}
