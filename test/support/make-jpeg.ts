/** A drawn JPEG for tests of detectors: gradients and a bright square, different for each seed. */
import sharp from 'sharp';

export function makeJpeg(width: number, height: number, seed: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const inside = Math.abs(x - width / 3 - 5 * seed) < 9 && Math.abs(y - height / 2) < 9;
      const at = 3 * (y * width + x);
      pixels[at] = inside ? 250 : (255 * x) / width;
      pixels[at + 1] = (255 * y) / height;
      pixels[at + 2] = (37 * seed + x + y) % 256;
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
}
