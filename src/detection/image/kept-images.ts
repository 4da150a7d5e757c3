/** Images that one process detects objects in again and again: decoded once, while they fit a budget. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { decodeImage, type RgbImage } from './decode-image.js';

const MOST_BYTES = 64 * 2 ** 20;

/** The image of a file that does not change. @throws as `decodeImage`. */
export type ReadImage = (path: string) => Promise<RgbImage>;

/** @param mostBytes of the pixels that are kept; further images are decoded every time. */
export function keepImages(mostBytes = MOST_BYTES): ReadImage {
  const kept = new Map<string, RgbImage>();
  let bytes = 0;
  return async path => {
    const known = kept.get(path);
    if (known !== undefined) return known;
    const image = await decodeImage(await readFile(path), basename(path));
    if (bytes + image.data.length <= mostBytes) {
      kept.set(path, image);
      bytes += image.data.length;
    }
    return image;
  };
}
