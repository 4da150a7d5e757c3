/** Which pictures are meant? One file, or those of a folder in the order in which people count: frame2 before frame10. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CodedError } from '../../base/coded-error.js';
import { IMAGE_EXTENSIONS, listImageFolder } from '../../detection/data/image-list.js';
import { messageOf } from '../../engine/model/engine-error.js';

export interface Picture {
  /** From 1. */
  readonly id: number;
  /** Relative to what was named. */
  readonly fileName: string;
  readonly path: string;
}

/** @throws CodedError `pictures-missing` where there is no such file or folder, `no-pictures` where a folder has none. */
export async function listPictures(path: string): Promise<readonly Picture[]> {
  const found = await stat(path).catch((error: unknown) => {
    throw new CodedError('pictures-missing', `"${path}" cannot be read: ${messageOf(error)}`, {
      help: 'name an image or a folder of images',
    });
  });
  if (!found.isDirectory()) return [{ id: 1, fileName: basename(path), path }];
  const names = (await listImageFolder(path)).map(({ fileName }) => fileName).sort(compareNames);
  if (names.length === 0)
    throw new CodedError('no-pictures', `the folder "${path}" has no images, and no folder in it has any`, {
      help: `images end in ${IMAGE_EXTENSIONS.join(', ')}`,
    });
  return names.map((fileName, index) => ({ id: index + 1, fileName, path: join(path, fileName) }));
}

/** Frames of one folder in a row are a video. Names are in order already. */
export function folderOf({ fileName }: Picture): string {
  return dirname(fileName);
}

/** Digits count as numbers. The same everywhere, whatever the locale. */
export function compareNames(a: string, b: string): number {
  const [piecesA, piecesB] = [piecesOf(a), piecesOf(b)];
  for (const [index, piece] of piecesA.entries()) {
    const order = comparePieces(piece, piecesB[index] ?? '');
    if (order !== 0) return order;
  }
  // Equal but for zeros before numbers, or the start of the other.
  return piecesA.length - piecesB.length || comparePlain(a, b);
}

/** "frame10.png" → "frame", "10", ".png". */
function piecesOf(name: string): readonly string[] {
  return name.match(/\d+|\D+/g) ?? [];
}

function comparePieces(a: string, b: string): number {
  return /^\d/.test(a) && /^\d/.test(b) ? Number(a) - Number(b) : comparePlain(a, b);
}

function comparePlain(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
