/** Draws objects on an image: tinted masks, boxes and tags. */
import type { RgbImage } from '../image/decode-image.js';
import type { Rle } from '../masks/rle.js';
import { drawLetters, LETTER, lettersWidth } from './letters.js';

export interface DrawnObject {
  /** x1 y1 x2 y2 in pixels; clipped to the image. */
  readonly box: ArrayLike<number>;
  /** Has the size of the image. */
  readonly mask: Rle | undefined;
  readonly tag: string;
  /** Color index. Objects with equal indices have the same color. */
  readonly color: number;
}

type Rgb = readonly [number, number, number];

/** Distinguishable with color blindness. Source: Okabe and Ito, Color Universal Design. */
const COLORS: readonly Rgb[] = [
  [230, 159, 0],
  [86, 180, 233],
  [0, 158, 115],
  [240, 228, 66],
  [0, 114, 178],
  [213, 94, 0],
  [204, 121, 167],
];
const INK: Rgb = [0, 0, 0];

/** Opacity of masks. */
const TINT = 0.5;

/** Image side, in pixels, per pixel of line width. */
const PIXELS_PER_LINE = 480;

/** A new image with the objects on it, the first on top. */
export function drawObjects(picture: RgbImage, objects: readonly DrawnObject[]): RgbImage {
  const canvas: Canvas = { ...picture, data: new Uint8Array(picture.data) };
  const line = Math.max(1, Math.round(Math.max(picture.width, picture.height) / PIXELS_PER_LINE));
  const reversed = [...objects].reverse();
  for (const { mask, color } of reversed) if (mask !== undefined) tint(canvas, mask, colorOf(color));
  for (const { box, color } of reversed) drawFrame(canvas, box, line, colorOf(color));
  for (const { box, tag, color } of reversed) drawTag(canvas, tag, box, line, colorOf(color));
  return canvas;
}

interface Canvas extends RgbImage {
  readonly data: Uint8Array;
}

function colorOf(number: number): Rgb {
  return COLORS[((number % COLORS.length) + COLORS.length) % COLORS.length] ?? INK;
}

function tint({ data, width }: Canvas, { counts, height }: Rle, color: Rgb): void {
  let end = 0;
  for (const [run, length] of counts.entries()) {
    end += length;
    if (run % 2 === 0) continue;
    for (let at = end - length; at < end; at++) {
      const to = 3 * ((at % height) * width + Math.floor(at / height));
      for (let channel = 0; channel < 3; channel++)
        data[to + channel] = Math.round((data[to + channel] as number) * (1 - TINT) + (color[channel] as number) * TINT);
    }
  }
}

/** Fills a rectangle of integer pixels, clipped to the image. */
function fill({ data, width, height }: Canvas, [x1, y1, x2, y2]: readonly [number, number, number, number], color: Rgb): void {
  const [left, right] = [Math.max(x1, 0), Math.min(x2, width)];
  for (let y = Math.max(y1, 0); y < Math.min(y2, height); y++)
    for (let x = left; x < right; x++)
      for (let channel = 0; channel < 3; channel++) data[3 * (y * width + x) + channel] = color[channel] as number;
}

function drawFrame(canvas: Canvas, box: ArrayLike<number>, line: number, color: Rgb): void {
  const [x1, y1, x2, y2] = cornersOf(box);
  fill(canvas, [x1, y1, x2, y1 + line], color);
  fill(canvas, [x1, y2 - line, x2, y2], color);
  fill(canvas, [x1, y1, x1 + line, y2], color);
  fill(canvas, [x2 - line, y1, x2, y2], color);
}

/** Draws the tag above the box where there is room, else inside it; moved left at the right edge of the image. */
function drawTag(canvas: Canvas, tag: string, box: ArrayLike<number>, line: number, color: Rgb): void {
  if (tag === '') return;
  const [x1, y1] = cornersOf(box);
  const [width, height] = [(lettersWidth(tag) + 2) * line, (LETTER.height + 2) * line];
  const left = Math.max(Math.min(x1, canvas.width - width), 0);
  const top = y1 >= height ? y1 - height : Math.max(y1, 0);
  fill(canvas, [left, top, left + width, top + height], color);
  drawLetters(tag, (x, y) => {
    const [dotX, dotY] = [left + (x + 1) * line, top + (y + 1) * line];
    fill(canvas, [dotX, dotY, dotX + line, dotY + line], INK);
  });
}

/** The pixels that a box covers, at least one per side. */
function cornersOf(box: ArrayLike<number>): [number, number, number, number] {
  const [x1, y1] = [Math.floor(box[0] ?? 0), Math.floor(box[1] ?? 0)];
  return [x1, y1, Math.max(Math.ceil(box[2] ?? 0), x1 + 1), Math.max(Math.ceil(box[3] ?? 0), y1 + 1)];
}
