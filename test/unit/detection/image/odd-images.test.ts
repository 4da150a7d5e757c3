/** Images that no data set should have and some do: a detector gives finite objects inside them, or says what is wrong. Made here by sharp. */
import sharp from 'sharp';
import type { DetectedObjects, Detector } from '../../../../src/detection/detector/detector.js';
import { decodeImage } from '../../../../src/detection/image/decode-image.js';
import { failureOf } from '../../../support/error-code.js';
import { openShapes, readShapesConfig } from '../../../support/shapes.js';

type Picture = ReturnType<typeof sharp>;

/** A bright disc on a dark ground: something to be found. */
function draw(width: number, height: number): Picture {
  const radius = Math.min(width, height) / 3;
  const disc = `<svg width="${width}" height="${height}"><rect width="100%" height="100%" fill="#203040"/><circle cx="50%" cy="50%" r="${radius}" fill="#e04020"/></svg>`;
  return sharp(Buffer.from(disc)).removeAlpha();
}

let detector: Detector;
beforeAll(async () => {
  detector = await openShapes();
});
afterAll(() => detector.close());

const detectIn = async (bytes: Buffer): Promise<DetectedObjects> => (await detector.trace(await decodeImage(bytes, 'odd'))).objects;

describe('odd images', () => {
  it.each([
    ['one pixel', 1, 1],
    ['two pixels', 2, 1],
    ['10,000 pixels wide', 10_000, 60],
    ['10,000 pixels high', 100, 10_000],
    ['upright', 120, 300],
  ])('%s: the objects have finite boxes that touch the image', async (_, width, height) => {
    const objects = await detectIn(await draw(width, height).png().toBuffer());
    expect(objects.size).toEqual({ width, height });
    const outside = Array.from(objects.boxes).filter((side, index) => {
      const limit = index % 2 === 0 ? width : height;
      // Boxes are clipped to the resized image and mapped back; a rounding of float32 may pass the border.
      return !(side >= -1e-3 * limit && side <= 1.001 * limit);
    });
    expect(outside).toEqual([]);
  });

  it('one pixel high and 10,000 wide is an error, because no row would be left', async () => {
    const bytes = await draw(10_000, 1).png().toBuffer();
    const failure = await failureOf(() => detectIn(bytes));
    expect(failure).toMatchObject({ code: 'image-too-narrow', message: expect.stringContaining('10000×1') });
  });

  it('with alpha, 16 bits per channel, as WebP or TIFF, turned by EXIF: the pixels that plain RGB has, and they hold an object', async () => {
    const plain = await draw(256, 192).png().toBuffer();
    const wanted = await decodeImage(plain, 'plain');
    const forms: Readonly<Record<string, Picture>> = {
      alpha: sharp(plain).ensureAlpha(0.5).png(),
      deep: sharp(plain).toColourspace('rgb16').png(),
      webp: sharp(plain).webp({ lossless: true }),
      tiff: sharp(plain).tiff({ compression: 'lzw' }),
      turned: sharp(plain).withMetadata({ orientation: 6 }).png(),
    };
    for (const [name, picture] of Object.entries(forms))
      expect([name, Buffer.compare((await decodeImage(await picture.toBuffer(), name)).data, wanted.data)]).toEqual([name, 0]);
    expect((await detectIn(plain)).scores.length).toBeGreaterThan(0);
  });

  it('grey in one channel is grey in three', async () => {
    const grey = sharp(await draw(64, 48).png().toBuffer()).greyscale();
    const [one, three] = await Promise.all(['b-w', 'srgb'].map(space => grey.clone().toColourspace(space).png().toBuffer()));
    expect(await decodeImage(one ?? Buffer.alloc(0), 'one')).toEqual(await decodeImage(three ?? Buffer.alloc(0), 'three'));
  });

  it('CMYK is refused with help', async () => {
    const bytes = await draw(64, 48).toColourspace('cmyk').jpeg().toBuffer();
    expect((await failureOf(() => detectIn(bytes))).code).toBe('image-mode');
  });
});

it('1,000 detections in one image are all given, masks too', async () => {
  const config = await readShapesConfig();
  const box = { ...config.box, scoreThreshold: 0, nmsThreshold: 1, detectionsPerImage: 1000 };
  const greedy = await openShapes({ config: { ...config, box } });
  const { objects } = await greedy.trace(await decodeImage(await draw(256, 192).png().toBuffer(), 'many'));
  await greedy.close();
  expect(objects.scores).toHaveLength(1000);
  expect(objects.boxes).toHaveLength(4000);
  expect([...objects.scores]).toEqual([...objects.scores].sort((a, b) => b - a));
  expect(objects.masks).toMatchObject({ kind: 'squares', side: 28 });
});
