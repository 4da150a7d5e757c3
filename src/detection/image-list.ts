/** Which images does a data set have? Those that its COCO annotations list, by id, or those of a folder, by name; each checked to be there. */
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, isAbsolute, join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../base/json.js';
import { DetectionError } from './detection-error.js';

export interface ListedImage {
  readonly id: number;
  /** As the annotations name it, relative to the image folder. */
  readonly fileName: string;
}

/**
 * The images of a COCO annotations file, by ascending id. Annotations are not looked at.
 * @throws DetectionError `bad-annotations` where `images` is missing, an entry lacks id or file name, an id stands twice, or a file name leads out
 *         of the folder.
 */
export function listImages(annotations: Json): ListedImage[] {
  const entries = isJsonObject(annotations) ? annotations.images : undefined;
  if (!Array.isArray(entries)) throw badAnnotations('there is no list "images"');
  const images = entries.map((entry: Json, index) => readEntry(entry, index)).sort((a, b) => a.id - b.id);
  for (const [index, { id }] of images.entries()) if (images[index + 1]?.id === id) throw badAnnotations(`image id ${id} stands twice`);
  return images;
}

function readEntry(entry: Json, index: number): ListedImage {
  const { id, file_name: fileName }: JsonObject = isJsonObject(entry) ? entry : {};
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw badAnnotations(`images[${index}] has no id that is an integer`);
  if (typeof fileName !== 'string' || fileName === '') throw badAnnotations(`image ${id} has no file_name`);
  if (isAbsolute(fileName) || fileName.split(/[/\\]/).includes('..')) {
    throw badAnnotations(`file_name "${fileName}" of image ${id} leads out of the image folder`);
  }
  return { id, fileName };
}

const EXTENSIONS = ['.jpg', '.jpeg', '.png', '.webp', '.gif', '.tif', '.tiff'];

/** The images in a folder and the folders in it, in the order of their paths, numbered from 1. Files with other extensions are left alone. */
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
    else if (EXTENSIONS.includes(extname(entry.name).toLowerCase())) found.push(path);
  }
  return found;
}

/**
 * The first `count` images; all where undefined.
 * @throws DetectionError `no-images` where the set is empty, `too-few-images` where it has fewer.
 */
export function takeFirstImages(images: readonly ListedImage[], count: number | undefined): readonly ListedImage[] {
  if (images.length === 0) throw new DetectionError('no-images', 'the data set has no images');
  if (count === undefined) return images;
  if (count > images.length) {
    throw new DetectionError('too-few-images', `${count} images are asked for, the data set has ${images.length}`, {
      help: `set samples to at most ${images.length}`,
    });
  }
  return images.slice(0, count);
}

/** The path of an image. @throws DetectionError `image-missing` where there is no such file. */
export async function findImageFile(folder: string, { id, fileName }: ListedImage): Promise<string> {
  const path = join(folder, fileName);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) return path;
  throw new DetectionError('image-missing', `image ${id}: there is no file "${fileName}" in the image folder "${basename(folder)}"`, {
    help: 'check that annotations and images belong together',
  });
}

function badAnnotations(message: string): DetectionError {
  return new DetectionError('bad-annotations', `COCO annotations: ${message}`);
}
