/** Images with a mask of class numbers each: two folders whose files have corresponding names. */
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { DetectionError } from '../error/detection-error.js';
import { type ListedImage, listImageFolder } from './image-list.js';

export interface MaskedImage extends ListedImage {
  /** The mask, relative to its folder. */
  readonly mask: string;
}

/** How the name of a mask follows from that of its image: the end `from` of the name without extension becomes `to`. */
export interface MaskNames {
  readonly from: string;
  readonly to: string;
}

export interface MaskedFolders {
  readonly images: string;
  readonly masks: string;
  /** A text file with a name per line, without extension; undefined: all images. */
  readonly list: string | undefined;
  readonly names: MaskNames;
}

/**
 * The images in the order of their paths.
 * @throws DetectionError `no-images`; `masks-missing` where images have no mask; `list-unknown` where the list names images that do not exist, or is empty.
 */
export async function listMaskedImages({ images, masks, list, names }: MaskedFolders): Promise<readonly MaskedImage[]> {
  const all = await listImageFolder(images);
  if (all.length === 0) throw new DetectionError('no-images', `the folder "${basename(images)}" has no images`);
  const chosen = list === undefined ? all : takeListed(all, parseNames(await readFile(list, 'utf8')));
  const existing = new Set((await listImageFolder(masks)).map(({ fileName }) => fileName));
  const masked = chosen.map(image => ({ ...image, mask: nameMask(image, names) }));
  const missing = masked.filter(({ mask }) => !existing.has(mask));
  if (missing.length > 0)
    throw new DetectionError(
      'masks-missing',
      `${missing.length} of ${masked.length} images have no mask, for example "${missing[0]?.fileName}": there is no "${missing[0]?.mask}" in "${basename(masks)}"`,
      { help: 'state how names correspond with `maskNames`, or connect a `list` of the images that have masks' },
    );
  return masked;
}

/** @throws DetectionError `masks-missing` where the name does not end as stated. */
function nameMask({ fileName }: ListedImage, { from, to }: MaskNames): string {
  const stem = stemOf(fileName);
  if (stem.endsWith(from)) return `${stem.slice(0, stem.length - from.length)}${to}.png`;
  throw new DetectionError('masks-missing', `the name of image "${fileName}" does not end in "${from}"`, {
    help: 'correct `maskNames.from`, or connect a `list` of the images that have masks',
  });
}

const stemOf = (fileName: string): string => fileName.slice(0, fileName.length - extname(fileName).length);

function parseNames(text: string): ReadonlySet<string> {
  const lines = text.split(/\r?\n/).map(line => line.trim());
  return new Set(lines.filter(line => line !== '' && !line.startsWith('#')));
}

/** A name may have the folder and the extension of its image, or neither. */
function takeListed(all: readonly ListedImage[], names: ReadonlySet<string>): readonly ListedImage[] {
  const found = new Set<string>();
  const chosen = all.filter(({ fileName }) => {
    const name = [fileName, stemOf(fileName), basename(stemOf(fileName))].find(one => names.has(one));
    if (name !== undefined) found.add(name);
    return name !== undefined;
  });
  const unknown = [...names].filter(name => !found.has(name));
  if (unknown.length > 0 || chosen.length === 0)
    throw new DetectionError(
      'list-unknown',
      chosen.length === 0
        ? 'the list names no image of the folder'
        : `the list names ${unknown.length} images that the folder does not have, for example "${unknown[0]}"`,
      { help: 'a line is the name of an image, with or without its extension' },
    );
  return chosen;
}
