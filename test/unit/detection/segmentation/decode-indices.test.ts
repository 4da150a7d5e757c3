/** Masks of class numbers: palette, gray of all depths, interlaced, filtered; what is refused. */
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { decodeIndices } from '../../../../src/detection/image/decode-indices.js';
import { fixturePath } from '../../../support/fixtures.js';

const expected = JSON.parse(readFileSync(fixturePath('segmentation/expected.json'), 'utf8')) as { masks: Record<string, number[][]> };

interface Form {
  readonly depth: number;
  readonly color?: number;
  readonly interlace?: number;
  readonly width?: number;
  readonly height?: number;
  readonly crop?: number;
}

/** A PNG with these lines, each with its filter byte. Checksums are zero: decoders of numbers need none. */
function png(lines: readonly number[], { depth, color = 0, interlace = 0, width = 4, height = 1, crop = 0 }: Form): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, color, 0, 0, interlace], 8);
  const chunk = (kind: string, data: Uint8Array): Uint8Array => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(kind, 'latin1'), data, Buffer.alloc(4)]);
  };
  const whole = Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Uint8Array.from(lines))),
    chunk('IEND', new Uint8Array()),
  ]);
  return whole.subarray(0, whole.length - crop);
}

describe('a mask of class numbers', () => {
  it.each(['a', 'b', 'c'])('has the numbers that numpy wrote: palette, interlaced gray, 16 bits (%s)', name => {
    const { width, height, data } = decodeIndices(readFileSync(fixturePath(`segmentation/masks/${name}_ids.png`)), name);
    const rows = expected.masks[name] ?? [];
    expect([height, width]).toEqual([rows.length, rows[0]?.length]);
    expect(Array.from(data)).toEqual(rows.flat());
  });

  it.each<[number, readonly number[], readonly number[]]>([
    [1, [0, 0b1010_0000], [1, 0, 1, 0]],
    [2, [0, 0b11_01_10_00], [3, 1, 2, 0]],
    [4, [0, 0x12, 0xf0], [1, 2, 15, 0]],
    [8, [0, 7, 0, 255, 1], [7, 0, 255, 1]],
    [16, [0, 1, 0, 0, 9, 255, 255, 0, 0], [256, 9, 65535, 0]],
  ])('is read at %d bits', (depth, lines, numbers) => {
    expect(Array.from(decodeIndices(png(lines, { depth }), 'm').data)).toEqual(numbers);
  });

  it.each([0, 1, 2, 3, 4])('undoes filter %d as libvips writes it', async filter => {
    const data = Uint8Array.from({ length: 33 * 9 }, (_, index) => (index * 37 + ((index * index) >> 3)) & 255);
    const bytes = await sharp(data, { raw: { width: 33, height: 9, channels: 1 } })
      .toColourspace('b-w')
      .png({ adaptiveFiltering: filter > 0, compressionLevel: filter })
      .toBuffer();
    expect(Array.from(decodeIndices(bytes, 'm').data)).toEqual(Array.from(data));
  });

  it.each<[string, Uint8Array, string, RegExp]>([
    ['another file', Uint8Array.of(1, 2, 3), 'mask-decode', /it is no PNG file/],
    ['colors', png([0, 1, 2, 3], { depth: 8, color: 2, width: 1 }), 'mask-decode', /its pixels are colors/],
    ['a truncated file', png([0, 7, 0, 255, 1], { depth: 8, crop: 14 }), 'mask-decode', /truncated|damaged|has no|says/],
    ['too few pixels', png([0, 7], { depth: 8 }), 'mask-decode', /it has 2 bytes of pixels, its header says 5/],
    ['too many pixels', png([0, 7, 0, 0, 0, 0, 0], { depth: 8 }), 'mask-decode', /damaged/],
    ['an unknown filter', png([5, 7, 0, 255, 1], { depth: 8 }), 'mask-decode', /filter 5/],
    ['a huge size', png([0], { depth: 8, width: 60_000, height: 60_000 }), 'image-too-large', /60000×60000/],
    ['no pixels', png([0], { depth: 8, width: 0 }), 'mask-decode', /no pixels/],
    ['a depth that PNG lacks', png([0, 1], { depth: 3 }), 'mask-decode', /header is invalid/],
  ])('is refused: %s', (_what, bytes, code, message) => {
    expect(() => decodeIndices(bytes, 'm.png')).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });
});
