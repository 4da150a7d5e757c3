/** Images that the programs of a bundle read with the standard library, and the PNG files that they write. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { decodeImage } from '../../../../src/detection/image/decode-image.js';
import { temporaryFolder } from '../../../support/run-stage.js';
import { PROJECT } from '../../../support/shapes-project.js';
import { describeWithPython } from '../../../support/stub-onnxruntime.js';

const folder = await temporaryFolder('board-images');
afterAll(folder.remove);

const BOARD = join(PROJECT, 'src/target/bundle/board');
const [WIDTH, HEIGHT] = [37, 23];

/** Smooth and noisy areas, so that encoders choose several filters. */
const pixels = Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, at) => (at % 7 < 3 ? (at * 5) % 256 : (at * at * 31) % 251));
const raw = () => sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } });

/** Reads an image, writes it to `out` as PNG, and prints its size; or prints the error. */
const PROGRAM = `
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(BOARD)})
from tanren_host.errors import Refused
from tanren_host.images import read_image, write_png
for path in sys.argv[1:]:
    try:
        image = read_image(path)
        write_png(path + ".out.png", image)
        print(image.shape[1], image.shape[0])
    except Refused as refusal:
        print(refusal.code, refusal)
`;

function readAll(files: Readonly<Record<string, Uint8Array>>): readonly string[] {
  const paths = Object.entries(files).map(([name, bytes]) => {
    const path = join(folder.path, name);
    writeFileSync(path, bytes);
    return path;
  });
  const { stdout, stderr } = spawnSync('python3', ['-c', PROGRAM, ...paths], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

/** A PNG file of one gray row per filter, with the given chunk of pixels. */
function pngOf(width: number, height: number, rows: Uint8Array, color = 0, depth = 8): Uint8Array {
  const chunk = (kind: string, body: Uint8Array): Buffer => {
    const data = Buffer.concat([Buffer.from(kind), body]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(body.length);
    sum.writeUInt32BE(crc32(data));
    return Buffer.concat([size, data, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([depth, color, 0, 0, 0], 8);
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([start, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', new Uint8Array())]);
}

function crc32(data: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

describeWithPython('images on the board', () => {
  it('have the pixels that the detectors of this project read', async () => {
    const files: Record<string, Uint8Array> = {
      'rgb.png': await raw().png({ adaptiveFiltering: true }).toBuffer(),
      'plain.png': await raw().png({ adaptiveFiltering: false }).toBuffer(),
      'alpha.png': await raw().ensureAlpha(0.5).png({ adaptiveFiltering: true }).toBuffer(),
      'gray.png': await raw().toColourspace('b-w').png().toBuffer(),
      'palette.png': await raw().png({ palette: true, colors: 11, dither: 0 }).toBuffer(),
      'deep.png': await raw().toColourspace('rgb16').png().toBuffer(),
    };
    expect(readAll(files)).toEqual(Object.keys(files).map(() => `${WIDTH} ${HEIGHT}`));
    for (const [name, bytes] of Object.entries(files)) {
      const written = await decodeImage(readFileSync(join(folder.path, `${name}.out.png`)), name);
      expect([name, written]).toEqual([name, await decodeImage(bytes, name)]);
    }
  });

  it('undo each filter of PNG', async () => {
    const rows = Uint8Array.from([0, 9, 200, 7, 1, 3, 250, 8, 2, 1, 2, 255, 3, 100, 7, 9, 4, 50, 60, 250]);
    const png = pngOf(3, 5, rows);
    expect(readAll({ 'filters.png': png })).toEqual(['3 5']);
    expect(await decodeImage(readFileSync(join(folder.path, 'filters.png.out.png')), 'filters')).toEqual(await decodeImage(png, 'filters'));
  });

  it('are PPM, PGM and .npy as well', async () => {
    const header = `{'descr': '|u1', 'fortran_order': False, 'shape': (${HEIGHT}, ${WIDTH}, 3), }`.padEnd(117);
    const npy = Buffer.concat([Buffer.from([0x93]), Buffer.from('NUMPY'), Buffer.from([1, 0, 118, 0]), Buffer.from(`${header}\n`), pixels]);
    const ppm = Buffer.concat([Buffer.from(`P6\n# a comment\n${WIDTH} ${HEIGHT}\n255\n`), pixels]);
    const pgm = Buffer.concat([Buffer.from('P5 2 1 255\n'), Buffer.from([7, 9])]);
    expect(readAll({ 'a.npy': npy, 'a.ppm': ppm, 'a.pgm': pgm })).toEqual([`${WIDTH} ${HEIGHT}`, `${WIDTH} ${HEIGHT}`, '2 1']);
    for (const name of ['a.npy', 'a.ppm'])
      expect((await decodeImage(readFileSync(join(folder.path, `${name}.out.png`)), name)).data).toEqual(Buffer.from(pixels));
    const gray = await decodeImage(readFileSync(join(folder.path, 'a.pgm.out.png')), 'a.pgm');
    expect([...gray.data]).toEqual([7, 7, 7, 9, 9, 9]);
  });

  it('are refused with a reason if they are damaged or too large', async () => {
    const png = Buffer.from(await raw().png().toBuffer());
    const flipped = Buffer.from(png);
    flipped[60] = (flipped[60] ?? 0) ^ 255;
    const answers = readAll({
      'cut.png': png.subarray(0, 80),
      'flipped.png': flipped,
      'huge.png': pngOf(100_000, 100_000, new Uint8Array(4)),
      'short.png': pngOf(5, 5, new Uint8Array(4)),
      'filter.png': pngOf(1, 1, Uint8Array.from([9, 1])),
      'color.png': pngOf(1, 1, Uint8Array.from([0, 1]), 5),
      'end.ppm': Buffer.from('P6 4 4 255\nabc'),
      'text.npy': Buffer.from('\x93NUMPY no array'),
      'header.ppm': Buffer.from('P6 a b c'),
    });
    expect(answers).toEqual([
      expect.stringContaining("cut.png cannot be decoded: the chunk b'IDAT' is damaged or truncated"),
      expect.stringMatching(/flipped\.png cannot be decoded: the chunk b'ID.*' is damaged or truncated/),
      'image-too-large an image of 100000x100000 pixels; expected 1 to 100000000 pixels',
      expect.stringContaining('short.png cannot be decoded: there are 4 bytes of pixels, expected 30'),
      expect.stringContaining('filter.png cannot be decoded: row 0 has the unknown filter 9'),
      expect.stringContaining('color.png cannot be decoded: color type 5 with 8 bits is not allowed'),
      expect.stringContaining('end.ppm cannot be decoded: the file ends inside the pixels'),
      expect.stringMatching(/^(no-pillow|image-decode) .*text\.npy/),
      expect.stringContaining('header.ppm cannot be decoded: the header has no number where one is expected'),
    ]);
  });

  it('lists named files, and the images of folders in the order of their names; says which path is missing or has none', () => {
    const list = (...paths: readonly string[]): string => {
      const program = PROGRAM.slice(0, PROGRAM.indexOf('for path in')).replace('read_image, write_png', 'list_images');
      const code = `${program}\ntry:\n    print([str(path.name) for path in list_images(sys.argv[1:])])\nexcept Refused as refusal:\n    print(refusal.code, refusal)`;
      return spawnSync('python3', ['-c', code, ...paths], { encoding: 'utf8' }).stdout.trim();
    };
    const below = join(folder.path, 'listed/inner');
    mkdirSync(below, { recursive: true });
    mkdirSync(join(folder.path, 'empty'));
    for (const name of ['b.png', 'a.JPG', 'notes.txt', 'inner/c.ppm']) writeFileSync(join(folder.path, 'listed', name), '');
    expect(list(join(folder.path, 'listed/notes.txt'), join(folder.path, 'listed'))).toBe("['notes.txt', 'a.JPG', 'b.png', 'c.ppm']");
    expect(list(join(folder.path, 'nowhere'))).toContain('no-image');
    expect(list(join(folder.path, 'nowhere'))).toContain('nowhere does not exist');
    expect(list(join(folder.path, 'empty'))).toContain('empty has no image');
  });
});
