/** Anchor boxes of a region proposal network. */
import { roundHalfEven } from '../../base/round-half-even.js';
import type { Boxes } from './boxes.js';

/** Anchor shapes and map size of one pyramid level. */
export interface AnchorLevel {
  /** Side lengths in pixels of the square anchors. */
  readonly sizes: readonly number[];
  /** Height over width. */
  readonly aspectRatios: readonly number[];
  /** Size of the level's feature map. */
  readonly height: number;
  readonly width: number;
}

const { fround } = Math;

/**
 * Anchors of all levels, one level after another; within a level by row, column, aspect ratio and size, size varying fastest. This is the order of
 * an RPN output [1, A·k, h, w] read as h, w, A, k.
 *
 * The stride of a level is floor(input / map) per axis, so it is less than the nominal stride where the map size does not divide the input size.
 * @param input size of the padded input in pixels.
 * @see torchvision `AnchorGenerator`.
 */
export function makeAnchors(levels: readonly AnchorLevel[], input: { readonly height: number; readonly width: number }): Boxes {
  const perLevel = levels.map(level => ({ level, base: makeBaseAnchors(level.sizes, level.aspectRatios) }));
  const anchors = new Float32Array(perLevel.reduce((sum, { level, base }) => sum + level.height * level.width * base.length, 0));
  let offset = 0;
  for (const { level, base } of perLevel) {
    const strideY = Math.floor(input.height / level.height);
    const strideX = Math.floor(input.width / level.width);
    for (let row = 0; row < level.height; row++) {
      for (let column = 0; column < level.width; column++) {
        for (let i = 0; i < base.length; i++) anchors[offset++] = (base[i] as number) + (i % 2 === 0 ? column * strideX : row * strideY);
      }
    }
  }
  return anchors;
}

/** Only the anchors of one level at `indices`, in the order of `indices`; equal to those of `makeAnchors`. */
export function makeAnchorsAt(
  indices: ArrayLike<number>,
  { sizes, aspectRatios, height, width }: AnchorLevel,
  input: { readonly height: number; readonly width: number },
): Boxes {
  const base = makeBaseAnchors(sizes, aspectRatios);
  const perCell = base.length / 4;
  const [strideX, strideY] = [Math.floor(input.width / width), Math.floor(input.height / height)];
  const anchors = new Float32Array(4 * indices.length);
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] as number;
    const cell = Math.floor(index / perCell);
    const [x, y] = [(cell % width) * strideX, Math.floor(cell / width) * strideY];
    const from = 4 * (index % perCell);
    anchors[4 * i] = (base[from] as number) + x;
    anchors[4 * i + 1] = (base[from + 1] as number) + y;
    anchors[4 * i + 2] = (base[from + 2] as number) + x;
    anchors[4 * i + 3] = (base[from + 3] as number) + y;
  }
  return anchors;
}

/** Anchors around the origin, per aspect ratio, then per size. Rounded to integers, halves to even. */
export function makeBaseAnchors(sizes: readonly number[], aspectRatios: readonly number[]): Boxes {
  const boxes: number[] = [];
  for (const ratio of aspectRatios) {
    const tall = fround(Math.sqrt(fround(ratio)));
    const wide = fround(1 / tall);
    for (const size of sizes) {
      const [x, y] = [fround(fround(wide * size) / 2), fround(fround(tall * size) / 2)];
      boxes.push(-roundHalfEven(x), -roundHalfEven(y), roundHalfEven(x), roundHalfEven(y));
    }
  }
  return Float32Array.from(boxes);
}
