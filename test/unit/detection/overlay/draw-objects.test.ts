/** Drawing of objects on images of any size, with deterministic bytes. */
import sharp from 'sharp';
import type { RgbImage } from '../../../../src/detection/image/decode-image.js';
import { decodeImage } from '../../../../src/detection/image/decode-image.js';
import { encodePng } from '../../../../src/detection/image/encode-png.js';
import { encodeMask } from '../../../../src/detection/masks/rle.js';
import { drawObjects } from '../../../../src/detection/overlay/draw-objects.js';
import { drawLetters, lettersWidth } from '../../../../src/detection/overlay/letters.js';

const grey = (width: number, height: number): RgbImage => ({ width, height, data: new Uint8Array(3 * width * height).fill(100) });

const pixel = ({ data, width }: RgbImage, x: number, y: number): number[] => [
  ...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3),
];

describe('objects on a picture', () => {
  it('a mask tints its pixels by half, a box is a frame around its pixels, and the picture itself stays', () => {
    const picture = grey(8, 6);
    const mask = encodeMask(
      Array.from({ length: 48 }, (_, at) => (at === 2 * 8 + 3 ? 1 : 0)),
      6,
      8,
    );
    const drawn = drawObjects(picture, [{ box: [1.2, 1, 5.5, 5], mask, tag: '', color: 0 }]);
    expect(pixel(drawn, 3, 2)).toEqual([165, 130, 50]);
    const framed = Array.from({ length: 6 }, (_, y) =>
      Array.from({ length: 8 }, (_, x) => (pixel(drawn, x, y)[0] === 230 ? '#' : '.')).join(''),
    );
    expect(framed).toEqual(['........', '.#####..', '.#...#..', '.#...#..', '.#####..', '........']);
    expect(picture).toEqual(grey(8, 6));
  });

  it.each([
    ['a box outside of the picture', 4, 4, [-20, -20, -10, -10]],
    ['a box larger than the picture', 4, 4, [-5, -5, 50, 50]],
    ['a box without extent', 4, 4, [2, 2, 2, 2]],
    ['a picture of one pixel', 1, 1, [0, 0, 1, 1]],
    ['a picture of one row', 3000, 1, [10, 0, 2000, 1]],
  ])('%s changes no size and throws nothing', (_, width, height, box) => {
    const drawn = drawObjects(grey(width, height), [{ box, mask: undefined, tag: 'STAR 0.97', color: -3 }]);
    expect([drawn.width, drawn.height, drawn.data.length]).toEqual([width, height, 3 * width * height]);
  });

  it('a picture in a Buffer, as decoders return it, is kept too', () => {
    const picture = { ...grey(8, 6), data: Buffer.alloc(3 * 8 * 6, 100) };
    drawObjects(picture, [{ box: [1, 1, 5, 5], mask: undefined, tag: '', color: 0 }]);
    expect(new Set(picture.data)).toEqual(new Set([100]));
  });

  it('the first object lies on top', () => {
    const [first, second] = [0, 1].map(color => ({ box: [0, 0, 4, 4], mask: undefined, tag: '', color })) as [never, never];
    expect(pixel(drawObjects(grey(4, 4), [first, second]), 0, 0)).toEqual([230, 159, 0]);
  });
});

describe('letters', () => {
  it('are drawn in capitals, one pixel apart; unknown characters are a frame', () => {
    const rows = Array.from({ length: 7 }, () => Array.from({ length: lettersWidth('a1%') }, () => '.'));
    drawLetters('a1%', (x, y) => {
      const row = rows[y];
      if (row !== undefined) row[x] = '#';
    });
    expect(rows.map(row => row.join(''))).toEqual([
      '.###....#...#####',
      '#...#..##...#...#',
      '#...#...#...#...#',
      '#####...#...#...#',
      '#...#...#...#...#',
      '#...#...#...#...#',
      '#...#..###..#####',
    ]);
  });
});

describe('PNG', () => {
  it('has the pixels and nothing else', async () => {
    const drawn = drawObjects(grey(30, 20), [{ box: [3, 12, 20, 18], mask: undefined, tag: 'A', color: 2 }]);
    const bytes = await encodePng(drawn);
    expect(await decodeImage(bytes, 'drawn')).toEqual(drawn);
    expect(await encodePng(drawn)).toEqual(bytes);
    const { exif, icc, xmp } = await sharp(bytes).metadata();
    expect([exif, icc, xmp]).toEqual([undefined, undefined, undefined]);
  });
});
