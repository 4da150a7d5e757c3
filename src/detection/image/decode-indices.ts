/** Decodes PNG files whose pixels are numbers of classes: gray or palette images, without a conversion to colors. */
import { inflateSync } from 'node:zlib';
import { DetectionError } from '../error/detection-error.js';

/** Row-major numbers: gray values, or indices into the palette. */
export interface IndexImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint16Array;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const MOST_PIXELS = 100_000_000;
const GRAY = 0;
const PALETTE = 3;

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly interlaced: boolean;
}

/** Columns and rows of one pass of an interlaced image; a plain image is one pass. */
interface Pass {
  readonly x: number;
  readonly y: number;
  readonly stepX: number;
  readonly stepY: number;
}

/** W3C Portable Network Graphics, section 8.2 (Adam7). */
const ADAM7: readonly Pass[] = [
  { x: 0, y: 0, stepX: 8, stepY: 8 },
  { x: 4, y: 0, stepX: 8, stepY: 8 },
  { x: 0, y: 4, stepX: 4, stepY: 8 },
  { x: 2, y: 0, stepX: 4, stepY: 4 },
  { x: 0, y: 2, stepX: 2, stepY: 4 },
  { x: 1, y: 0, stepX: 2, stepY: 2 },
  { x: 0, y: 1, stepX: 1, stepY: 2 },
];

/**
 * The numbers of a PNG file of one channel with 1, 2, 4, 8 or 16 bits.
 * @param name name of the file in messages.
 * @throws DetectionError `mask-decode` for other files, and damaged ones; `image-too-large` above 100 million pixels.
 * @see W3C Portable Network Graphics Specification, third edition.
 */
export function decodeIndices(bytes: Uint8Array, name: string): IndexImage {
  const chunks = readChunks(bytes, name);
  const header = readHeader(chunks.header, name);
  const { width, height } = header;
  const passes = (header.interlaced ? ADAM7 : [{ x: 0, y: 0, stepX: 1, stepY: 1 }])
    .map(pass => ({ ...pass, columns: Math.ceil((width - pass.x) / pass.stepX), rows: Math.ceil((height - pass.y) / pass.stepY) }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0);
  const size = passes.reduce((sum, { columns, rows }) => sum + rows * (1 + lineBytes(columns, header.depth)), 0);
  const lines = inflate(chunks.data, size, name);
  const data = new Uint16Array(width * height);
  let at = 0;
  for (const { x, y, stepX, stepY, columns, rows } of passes) {
    const stride = lineBytes(columns, header.depth);
    let above: Uint8Array = new Uint8Array(stride);
    for (let row = 0; row < rows; row++) {
      const line = lines.subarray(at + 1, at + 1 + stride);
      unfilter(line, above, lines[at] as number, Math.max(1, header.depth >> 3), name);
      for (let column = 0; column < columns; column++)
        data[(y + row * stepY) * width + x + column * stepX] = readSample(line, column, header.depth);
      above = line;
      at += 1 + stride;
    }
  }
  return { width, height, data };
}

const lineBytes = (columns: number, depth: number): number => Math.ceil((columns * depth) / 8);

function readSample(line: Uint8Array, column: number, depth: number): number {
  if (depth === 8) return line[column] as number;
  if (depth === 16) return ((line[2 * column] as number) << 8) | (line[2 * column + 1] as number);
  const bit = column * depth;
  return ((line[bit >> 3] as number) >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
}

function readChunks(bytes: Uint8Array, name: string): { readonly header: Uint8Array; readonly data: Uint8Array } {
  if (!SIGNATURE.every((byte, index) => bytes[index] === byte)) throw undecodable(name, 'it is no PNG file');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Uint8Array | undefined;
  const data: Uint8Array[] = [];
  for (let at = SIGNATURE.length; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    const kind = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (length > bytes.length - at - 12) throw undecodable(name, `its chunk ${kind} is truncated`);
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') header = content;
    if (kind === 'IDAT') data.push(content);
    if (kind === 'IEND') break;
    at += 12 + length;
  }
  if (header?.length !== 13) throw undecodable(name, 'it has no header');
  return { header, data: Buffer.concat(data) };
}

function readHeader(content: Uint8Array, name: string): Header {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [width, height, depth, color, interlace] = [
    view.getUint32(0),
    view.getUint32(4),
    view.getUint8(8),
    view.getUint8(9),
    view.getUint8(12),
  ];
  if (color !== GRAY && color !== PALETTE) throw undecodable(name, `its pixels are colors (color type ${color}), not numbers of classes`);
  if (![1, 2, 4, 8, 16].includes(depth) || (color === PALETTE && depth > 8) || interlace > 1)
    throw undecodable(name, 'its header is invalid');
  if (width === 0 || height === 0) throw undecodable(name, 'it has no pixels');
  if (width * height > MOST_PIXELS)
    throw new DetectionError('image-too-large', `mask "${name}" has ${width}×${height} pixels; the limit is ${MOST_PIXELS}`, {
      details: { width, height, maxPixels: MOST_PIXELS },
    });
  return { width, height, depth, interlaced: interlace === 1 };
}

/** Exactly `size` bytes. */
function inflate(data: Uint8Array, size: number, name: string): Uint8Array {
  let found: Uint8Array;
  try {
    found = inflateSync(data, { maxOutputLength: size });
  } catch (cause) {
    throw undecodable(name, 'its pixels are damaged', cause);
  }
  if (found.length !== size) throw undecodable(name, `it has ${found.length} bytes of pixels, its header says ${size}`);
  return found;
}

/** Undoes the filter of a line in place. @param step bytes per pixel, at least 1. */
function unfilter(line: Uint8Array, above: Uint8Array, filter: number, step: number, name: string): void {
  if (filter > 4) throw undecodable(name, `a line has the filter ${filter}`);
  if (filter === 0) return;
  for (let i = 0; i < line.length; i++) {
    const left = i < step ? 0 : (line[i - step] as number);
    const up = above[i] as number;
    const corner = i < step ? 0 : (above[i - step] as number);
    line[i] = (line[i] as number) + predict(filter, left, up, corner);
  }
}

function predict(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    default: {
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
  }
}

function undecodable(name: string, reason: string, cause?: unknown): DetectionError {
  return new DetectionError('mask-decode', `mask "${name}" cannot be read: ${reason}`, {
    ...(cause === undefined ? {} : { cause }),
    help: 'masks are PNG files of one channel, gray or with a palette, whose numbers are classes',
  });
}
