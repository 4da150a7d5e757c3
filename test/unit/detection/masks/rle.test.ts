/** Run lengths against plain pixel masks, on generated masks. */
import fc from 'fast-check';
import { pasteMask } from '../../../../src/detection/masks/paste-mask.js';
import { rasterizePolygon, rasterizePolygons } from '../../../../src/detection/masks/polygon.js';
import { decodeMask, encodeMask, makeRle, makeRunWriter, rleArea, rleBox } from '../../../../src/detection/masks/rle.js';
import { intersectionArea, intersectionOf, rleIou, unionOf } from '../../../../src/detection/masks/rle-combine.js';
import { decodeRleText, encodeRleText } from '../../../../src/detection/masks/rle-text.js';
import { failureOf } from '../../../support/error-code.js';
import { rasterizePlainly } from '../../../support/plain-polygon.js';

/** Two masks of one size, row-major; runs of pixels, so that long and short counts both occur. */
const masks = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 })).chain(([height, width]) => {
  const runs = fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 60 })), { maxLength: 20 });
  const mask = runs.map(list => {
    const pixels = list.flatMap(([value, length]) => new Array<number>(length).fill(value));
    return Uint8Array.from({ length: height * width }, (_, i) => pixels[i] ?? 0);
  });
  return fc.record({ height: fc.constant(height), width: fc.constant(width), a: mask, b: mask });
});

const count = (pixels: Uint8Array) => pixels.reduce((sum, value) => sum + value, 0);

describe('run lengths', () => {
  it('encode and decode every mask, also as text', () => {
    fc.assert(
      fc.property(masks, ({ height, width, a }) => {
        const rle = encodeMask(a, height, width);
        expect(decodeMask(rle)).toEqual(a);
        expect(decodeRleText(encodeRleText(rle), height, width)).toEqual(rle);
        expect(rleArea(rle)).toBe(count(a));
        const plain = makeRunWriter(height, width);
        for (let x = 0; x < width; x++) for (let y = 0; y < height; y++) plain.push(a[y * width + x] === 1 ? 1 : 0, 1);
        expect(rle).toEqual(plain.finish());
      }),
    );
  });

  it('union, intersection and IoU are those of the pixels', () => {
    fc.assert(
      fc.property(masks, ({ height, width, a, b }) => {
        const [p, q] = [encodeMask(a, height, width), encodeMask(b, height, width)];
        const both = a.map((value, i) => value & (b[i] ?? 0));
        const any = a.map((value, i) => value | (b[i] ?? 0));
        expect(intersectionOf([p, q])).toEqual(encodeMask(both, height, width));
        expect(unionOf([p, q])).toEqual(encodeMask(any, height, width));
        expect(intersectionArea(p, q)).toBe(count(both));
        expect(rleIou(p, q)).toBe(count(both) === 0 ? 0 : count(both) / count(any));
        expect(rleIou(p, q, 'crowd')).toBe(count(both) === 0 ? 0 : count(both) / count(a));
      }),
    );
  });

  it('the box is the smallest around the pixels', () => {
    fc.assert(
      fc.property(masks, ({ height, width, a }) => {
        const set = [...a.keys()].filter(i => a[i] === 1);
        const [xs, ys] = [set.map(i => i % width), set.map(i => Math.floor(i / width))];
        const [x, y] = [Math.min(...xs), Math.min(...ys)];
        const expected = set.length === 0 ? [0, 0, 0, 0] : [x, y, Math.max(...xs) - x + 1, Math.max(...ys) - y + 1];
        expect(rleBox(encodeMask(a, height, width))).toEqual(expected);
      }),
    );
  });

  it('text that COCO’s own encoder wrote reads as its mask, and is written as it was', () => {
    // Recorded with pycocotools on 192×256; box and area by an independent decoder.
    const rle = decodeRleText('V`03k52O2M2O2N200O01O001N1N3M3Nmk\\1', 192, 256);
    expect(encodeRleText(rle)).toBe('V`03k52O2M2O2N200O01O001N1N3M3Nmk\\1');
    expect(rle.counts.reduce((sum, length) => sum + length, 0)).toBe(192 * 256);
    expect([rleBox(rle), rleArea(rle)]).toEqual([[2, 127, 14, 14], 124]);
  });

  it.each([
    ['more pixels than the mask', () => makeRle(2, 2, [3, 2]), 'rle-size'],
    ['text that ends inside a number', () => decodeRleText('P', 4, 4), 'rle-text'],
    ['a character outside the encoding', () => decodeRleText(' ', 4, 4), 'rle-text'],
    ['a number that goes on and on', () => decodeRleText('oooooooooooo', 4, 4), 'rle-text'],
    ['a run of negative length', () => decodeRleText('O', 4, 4), 'rle-text'],
    ['masks of different sizes', () => rleIou(makeRle(2, 3, []), makeRle(3, 2, [])), 'rle-mismatch'],
  ])('%s: refused', async (_what, run, code) => {
    expect((await failureOf(run)).code).toBe(code);
  });

  it('any text is read or refused with a code, and never a mask of another size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 30 }), async text => {
        try {
          expect(decodeMask(decodeRleText(text, 9, 7)).length).toBe(63);
        } catch (error) {
          expect((await failureOf(() => Promise.reject(error))).code).toMatch(/^rle-(text|size)$/);
        }
      }),
    );
  });
});

describe('polygons', () => {
  it('a rectangle on pixel borders covers exactly its pixels', () => {
    const rle = rasterizePolygon([2, 1, 5, 1, 5, 3, 2, 3], 6, 8);
    expect([rleBox(rle), rleArea(rle)]).toEqual([[2, 1, 3, 2], 6]);
  });

  it('a polygon reaching out of the image is cut, and several are joined', () => {
    const rle = rasterizePolygons(
      [
        [-5, -5, 3, -5, 3, 20, -5, 20],
        [6, 0, 20, 0, 20, 2, 6, 2],
        [1, 0, 4, 0, 4, 1, 1, 1],
      ],
      6,
      8,
    );
    expect(rleArea(rle)).toBe(3 * 6 + 2 * 2 + 1);
  });

  it('every polygon covers the pixels that the plain rasterizer finds', () => {
    const sizes = fc.record({ height: fc.integer({ min: 1, max: 30 }), width: fc.integer({ min: 1, max: 30 }) });
    const coordinate = fc.oneof(fc.integer({ min: -8, max: 40 }), fc.double({ min: -8, max: 40, noNaN: true }));
    const points = fc.array(fc.tuple(coordinate, coordinate), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(sizes, points, ({ height, width }, corners) => {
        expect(rasterizePolygon(corners.flat(), height, width)).toEqual(rasterizePlainly(corners.flat(), height, width));
      }),
      { numRuns: 500 },
    );
  });

  it('no polygon is an empty mask', () => {
    expect(rleArea(rasterizePolygons([], 6, 8))).toBe(0);
  });
});

describe('mask paste', () => {
  const full = new Float32Array(16).fill(1);

  it('a full mask covers its box, cut at the image', () => {
    // x: 6 cells over 2…14, so 13 pixels; above a half from 6/13 · (i + 0.5) > 1 on. y: −2.5…36.5 is truncated to −2…36, 39 pixels.
    const rle = pasteMask(full, [4, 4, 12, 30], { size: 4, threshold: 0.5, image: { height: 20, width: 20 } });
    expect(rleBox(rle)).toEqual([4, 5, 9, 15]);
  });

  it.each([
    ['outside the image', [50, 50, 60, 60]],
    ['not a number', [Number.NaN, 0, 4, 4]],
  ])('a box %s gives an empty mask', (_what, box) => {
    const rle = pasteMask(full, box, { size: 4, threshold: 0.5, image: { height: 20, width: 20 } });
    expect([rleArea(rle), [...rle.counts]]).toEqual([0, [400]]);
  });
});
