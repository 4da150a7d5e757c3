/** Decoding of image files, and errors for invalid files. */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { decodeImage } from '../../../../src/detection/image/decode-image.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';

const fixture = (name: string) => readFileSync(fixturePath('detection', name));
const raw = (data: number[], width: number, channels: 1 | 3 | 4) => sharp(Uint8Array.from(data), { raw: { width, height: 1, channels } });

describe('decoding images', () => {
  it('gray is repeated in the three channels', async () => {
    const bytes = await raw([7, 200], 2, 1).toColourspace('b-w').png().toBuffer();
    expect(await decodeImage(bytes, 'grey')).toEqual({ width: 2, height: 1, data: Uint8Array.of(7, 7, 7, 200, 200, 200) });
  });

  it('an alpha channel is dropped without blending', async () => {
    const bytes = await raw([10, 20, 30, 0, 40, 50, 60, 128], 2, 4).png().toBuffer();
    expect((await decodeImage(bytes, 'alpha')).data).toEqual(Uint8Array.of(10, 20, 30, 40, 50, 60));
  });

  it('the EXIF orientation is not applied', async () => {
    const bytes = await raw([1, 2, 3, 4, 5, 6], 2, 3).withMetadata({ orientation: 6 }).png().toBuffer();
    expect(await decodeImage(bytes, 'turned')).toEqual({ width: 2, height: 1, data: Uint8Array.of(1, 2, 3, 4, 5, 6) });
  });

  it.each([
    ['6: a quarter to the right', 6, [4, 5, 6, 1, 2, 3]],
    ['8: a quarter to the left', 8, [1, 2, 3, 4, 5, 6]],
  ])('orientation upright applies EXIF orientation %s', async (_, orientation, expected) => {
    // Stored above each other, seen beside each other.
    const stored = sharp(Uint8Array.of(1, 2, 3, 4, 5, 6), { raw: { width: 1, height: 2, channels: 3 } });
    const bytes = await stored.withMetadata({ orientation }).png().toBuffer();
    const seen = { width: 2, height: 1, data: Uint8Array.from(expected) };
    expect(await decodeImage(bytes, 'turned', { orientation: 'upright' })).toEqual(seen);
  });

  it.each([
    ['tiny.png', 33, 47],
    ['grey.png', 301, 211],
    ['alpha.png', 123, 97],
  ])('%s has %i×%i pixels of three bytes', async (name, width, height) => {
    const image = await decodeImage(fixture(name), name);
    expect([image.width, image.height, image.data.length]).toEqual([width, height, width * height * 3]);
  });
});

describe('rejected images', () => {
  it('bytes that are not an image: image-decode, with the name', async () => {
    const failure = await failureOf(() => decodeImage(Uint8Array.of(1, 2, 3), 'a/b.jpg'));
    expect(failure).toMatchObject({ code: 'image-decode', message: expect.stringContaining('"a/b.jpg"') });
  });

  it.each([0, 60, 900])('a PNG truncated after %i bytes: image-decode', async length => {
    expect((await failureOf(() => decodeImage(fixture('tiny.png').subarray(0, length), 'cut'))).code).toBe('image-decode');
  });

  it('a JPEG truncated in its pixels: image-decode', async () => {
    const whole = await sharp(fixture('grey.png')).jpeg().toBuffer();
    expect((await failureOf(() => decodeImage(whole.subarray(0, whole.length / 2), 'cut.jpg'))).code).toBe('image-decode');
  });

  it('SVG, which could load other files: image-decode', async () => {
    const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>');
    expect((await failureOf(() => decodeImage(svg, 'drawing'))).code).toBe('image-decode');
  });

  it('more pixels than the limit: image-too-large', async () => {
    expect((await failureOf(() => decodeImage(fixture('tiny.png'), 'tiny', { maxPixels: 1550 }))).code).toBe('image-too-large');
  });

  it('CMYK: image-mode', async () => {
    const bytes = await sharp(fixture('tiny.png')).toColourspace('cmyk').jpeg().toBuffer();
    expect((await failureOf(() => decodeImage(bytes, 'print.jpg'))).code).toBe('image-mode');
  });
});
