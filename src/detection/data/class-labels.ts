/** Which class does each image of a set belong to? A text file says so, line by line, or the folder that the image lies in. */
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { DetectionError } from '../error/detection-error.js';
import { type ListedImage, listImageFolder } from './image-list.js';

export interface LabelledImage extends ListedImage {
  /** Counted from 0, in the order of the network's outputs. */
  readonly label: number;
}

export interface LabelledImages {
  readonly images: readonly LabelledImage[];
  /** The classes, where nothing but the folders says which there are. */
  readonly folders: readonly string[] | undefined;
}

/**
 * The images of a folder with their labels, in the order of their paths.
 *
 * @param labels  a text file of lines "name label", the name relative to the folder; the label is a number from 0, or one of `classes`. Without it each
 *                folder in `folder` is a class, numbered in the order of `classes`, or of their names where those are not given.
 * @throws DetectionError `no-images`; `labels-malformed` with the line; `labels-missing` where images have no label; `labels-unknown` where the file
 *         names images that are not there, or folders and classes differ.
 */
export async function listLabelledImages(
  folder: string,
  labels: string | undefined,
  classes: readonly string[] | undefined,
): Promise<LabelledImages> {
  const images = await listImageFolder(folder);
  if (images.length === 0) throw new DetectionError('no-images', `the folder "${basename(folder)}" has no images`);
  if (labels !== undefined) return { images: await labelByFile(images, labels, classes), folders: undefined };
  const names = classes ?? (await listFolders(folder));
  return { images: await labelByFolder(images, folder, names), folders: classes === undefined ? names : undefined };
}

async function labelByFile(images: readonly ListedImage[], path: string, classes: readonly string[] | undefined): Promise<LabelledImage[]> {
  const labels = parseLabels(await readFile(path, 'utf8'), classes);
  const there = new Set(images.map(({ fileName }) => fileName));
  const unknown = [...labels.keys()].filter(name => !there.has(name));
  if (unknown.length > 0)
    throw new DetectionError('labels-unknown', `the labels name ${some(unknown, 'image')} that the folder does not have`, {
      help: 'names are relative to the image folder; check that labels and images belong together',
    });
  const missing = images.filter(({ fileName }) => !labels.has(fileName)).map(({ fileName }) => fileName);
  if (missing.length > 0)
    throw new DetectionError('labels-missing', `${missing.length} of ${images.length} images have no label: ${shorten(missing)}`, {
      help: 'add a line "name label" for each, or take the images out of the folder',
    });
  return images.map(image => ({ ...image, label: labels.get(image.fileName) ?? 0 }));
}

/** Empty lines and lines that begin with # are left out. Names may hold spaces: the label is what follows the last one. */
export function parseLabels(text: string, classes: readonly string[] | undefined): ReadonlyMap<string, number> {
  const labels = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, name = '', said = ''] = /^(.*\S)\s+(\S+)$/.exec(trimmed) ?? [];
    const label = /^\d+$/.test(said) ? Number(said) : (classes?.indexOf(said) ?? -1);
    if (name === '' || label < 0 || (classes !== undefined && label >= classes.length))
      throw new DetectionError('labels-malformed', `labels, line ${index + 1}: ${problemOf(name, said, classes)}`, {
        help: 'a line is "name label": the label counts from 0, or is one of `classes`',
      });
    if (labels.has(name)) throw new DetectionError('labels-malformed', `labels, line ${index + 1}: "${name}" has a label already`);
    labels.set(name, label);
  }
  return labels;
}

function problemOf(name: string, said: string, classes: readonly string[] | undefined): string {
  if (name === '') return 'there is no name and label';
  return classes === undefined
    ? `"${said}" is no number, and no \`classes\` are given`
    : `"${said}" is none of the ${classes.length} classes`;
}

async function labelByFolder(images: readonly ListedImage[], folder: string, names: readonly string[]): Promise<LabelledImage[]> {
  const unknown = (await listFolders(folder)).filter(name => !names.includes(name));
  if (unknown.length > 0)
    throw new DetectionError(
      'labels-unknown',
      `${some(unknown, 'folder')} ${unknown.length === 1 ? 'is' : 'are'} none of the ${names.length} classes`,
      {
        help: 'without labels every folder is a class: add it to `classes`, or take it out',
      },
    );
  const loose = images.filter(({ fileName }) => !fileName.includes('/')).map(({ fileName }) => fileName);
  if (loose.length > 0)
    throw new DetectionError('labels-missing', `${loose.length} of ${images.length} images have no label: ${shorten(loose)}`, {
      help: 'connect `labels`, or put each image into a folder with the name of its class',
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
