/** Encodes RGB images as PNG without metadata, so that equal images give equal bytes. */
import type { RgbImage } from './decode-image.js';
import { loadSharp } from './load-sharp.js';

export async function encodePng({ width, height, data }: RgbImage): Promise<Uint8Array> {
  return loadSharp()(data, { raw: { width, height, channels: 3 }, limitInputPixels: false })
    .png({ compressionLevel: 6 })
    .toBuffer();
}
