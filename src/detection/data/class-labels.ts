/** Class labels of images: from a text file, or from the folders that contain the images. */
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { DetectionError } from '../error/detection-error.js';
import { type ListedImage, listImageFolder } from './image-list.js';

export interface LabeledImage extends ListedImage {
  /** Class index from 0, in the order of the network's outputs. */
  readonly label: number;
}

export interface LabeledImages {
  readonly images: readonly LabeledImage[];
  /** Class names, where only the folders define the classes. */
  readonly folders: readonly string[] | undefined;
}

/**
 * The images of a folder with their labels, in the order of their paths.
 *
 * @param labels  path of a text file with lines "name label". The name is relative to the folder; the label is a number from 0, or one of `classes`.
 *                Where absent, each folder in `folder` is a class, in the order of `classes`, or of the folder names where `classes` is absent.
 * @throws DetectionError `no-images`; `labels-malformed` with the line; `labels-missing` where images have no label; `labels-unknown` where the file
 *         names images that do not exist, or folders and classes differ.
 */
export async function listLabeledImages(
  folder: string,
  labels: string | undefined,
  classes: readonly string[] | undefined,
): Promise<LabeledImages> {
  const images = await listImageFolder(folder);
  if (images.length === 0) throw new DetectionError('no-images', `the folder "${basename(folder)}" has no images`);
  if (labels !== undefined) return { images: await labelByFile(images, labels, classes), folders: undefined };
  const names = classes ?? (await listFolders(folder));
  return { images: await labelByFolder(images, folder, names), folders: classes === undefined ? names : undefined };
}

async function labelByFile(images: readonly ListedImage[], path: string, classes: readonly string[] | undefined): Promise<LabeledImage[]> {
  const labels = parseLabels(await readFile(path, 'utf8'), classes);
  const existing = new Set(images.map(({ fileName }) => fileName));
  const unknown = [...labels.keys()].filter(name => !existing.has(name));
  if (unknown.length > 0)
    throw new DetectionError('labels-unknown', `the labels file names ${some(unknown, 'image')}, which the folder does not have`, {
      help: 'names are relative to the image folder; check that labels and images match',
    });
  const missing = images.filter(({ fileName }) => !labels.has(fileName)).map(({ fileName }) => fileName);
  if (missing.length > 0)
    throw new DetectionError('labels-missing', `${missing.length} of ${images.length} images have no label: ${shorten(missing)}`, {
      help: 'add a line "name label" for each, or remove the images from the folder',
    });
  return images.map(image => ({ ...image, label: labels.get(image.fileName) ?? 0 }));
}

/** Ignores empty lines and lines that begin with #. Names may contain spaces: the label follows the last space. */
export function parseLabels(text: string, classes: readonly string[] | undefined): ReadonlyMap<string, number> {
  const labels = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, name = '', value = ''] = /^(.*\S)\s+(\S+)$/.exec(trimmed) ?? [];
    const label = /^\d+$/.test(value) ? Number(value) : (classes?.indexOf(value) ?? -1);
    if (name === '' || label < 0 || (classes !== undefined && label >= classes.length))
      throw new DetectionError('labels-malformed', `labels, line ${index + 1}: ${describeProblem(name, value, classes)}`, {
        help: 'expected "name label", where the label is a class index from 0 or one of `classes`',
      });
    if (labels.has(name)) throw new DetectionError('labels-malformed', `labels, line ${index + 1}: "${name}" already has a label`);
    labels.set(name, label);
  }
  return labels;
}

function describeProblem(name: string, value: string, classes: readonly string[] | undefined): string {
  if (name === '') return 'name or label is missing';
  return classes === undefined
    ? `"${value}" is not a number, and \`classes\` is not set`
    : `"${value}" is not one of the ${classes.length} classes`;
}

async function labelByFolder(images: readonly ListedImage[], folder: string, names: readonly string[]): Promise<LabeledImage[]> {
  const unknown = (await listFolders(folder)).filter(name => !names.includes(name));
  if (unknown.length > 0)
    throw new DetectionError(
      'labels-unknown',
      `${some(unknown, 'folder')} ${unknown.length === 1 ? 'is' : 'are'} not among the ${names.length} classes`,
      {
        help: 'without a labels file every folder is a class: add it to `classes`, or remove it',
      },
    );
  const loose = images.filter(({ fileName }) => !fileName.includes('/')).map(({ fileName }) => fileName);
  if (loose.length > 0)
    throw new DetectionError('labels-missing', `${loose.length} of ${images.length} images have no label: ${shorten(loose)}`, {
      help: 'connect `labels`, or move each image into a folder with the name of its class',
    });
  return images.map(image => ({ ...image, label: names.indexOf(image.fileName.split('/')[0] ?? '') }));
}

async function listFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

function some(names: readonly string[], what: string): string {
  return `${names.length === 1 ? `the ${what}` : `${names.length} ${what}s`} ${shorten(names)}`;
}

function shorten(names: readonly string[]): string {
  const shown = names.slice(0, 3).map(name => `"${name}"`);
  return names.length > 3 ? `${shown.join(', ')}, …` : shown.join(', ');
}
