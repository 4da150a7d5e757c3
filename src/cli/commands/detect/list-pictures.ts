/** Lists the pictures to process: one file, or all images of a folder in natural order, so that frame2 comes before frame10. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { IMAGE_EXTENSIONS, listImageFolder } from '../../../detection/data/image-list.js';
import { messageOf } from '../../../engine/model/engine-error.js';

export interface Picture {
  /** Starts at 1. */
  readonly id: number;
  /** Relative to the named folder; for a single file, its base name. */
  readonly fileName: string;
  readonly path: string;
}

/** @throws CodedError `pictures-missing` if there is no such file or folder, `no-pictures` if a folder contains no images. */
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

/** The folder of a picture. Pictures of one folder form a video; they are in order already. */
export function folderOf({ fileName }: Picture): string {
  return dirname(fileName);
}

/** Compares names with digits as numbers. The order does not depend on the locale. */
export function compareNames(a: string, b: string): number {
  const [piecesA, piecesB] = [piecesOf(a), piecesOf(b)];
  for (const [index, piece] of piecesA.entries()) {
    const order = comparePieces(piece, piecesB[index] ?? '');
    if (order !== 0) return order;
  }
  // The names differ only in leading zeros of numbers, or one is the start of the other.
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
