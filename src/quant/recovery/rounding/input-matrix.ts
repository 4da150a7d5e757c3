/** The inputs of a layer as a matrix: a row per input that an output sums over, a column per position of the output. */
import { findInts } from '../../../onnx/ir/attribute.js';
import type { Node } from '../../../onnx/ir/model.js';
import type { Tensor } from '../../../tensor/tensor.js';
import type { LayerWeight } from './layer-weight.js';

/** Positions are in the order of the output: image by image, then row by row. */
export interface InputMatrix {
  readonly positions: number;
  /** Writes `length` columns of one group from `start` on: rows of `length` elements, from index `at` of `block` on. */
  read(group: number, start: number, length: number, block: Float32Array, at: number): void;
}

export function inputMatrixOf(node: Node, weight: Pick<LayerWeight, 'dims' | 'groups'>, input: Tensor): InputMatrix {
  return node.opType === 'Conv' ? convolutionInputs(node, weight, input) : plainInputs(node, input);
}

/** Gemm: rows of the input are positions. ConvTranspose without overlap: pixels are. */
function plainInputs(node: Node, { dims, data }: Tensor): InputMatrix {
  const values = data as ArrayLike<number>;
  const [rows = 1, channels = 1] = dims;
  const inner = node.opType === 'Gemm' ? 1 : dims.slice(2).reduce((product, dim) => product * dim, 1);
  return {
    positions: rows * inner,
    read(_group, start, length, block, at) {
      for (let k = 0; k < length; k++) {
        const position = start + k;
        const from = Math.floor(position / inner) * channels * inner + (position % inner);
        for (let channel = 0; channel < channels; channel++) block[at + channel * length + k] = values[from + channel * inner] ?? 0;
      }
    },
  };
}

/** Conv of rank 3 to 5 as windows of rank 3: missing axes have size 1. */
function convolutionInputs(node: Node, weight: Pick<LayerWeight, 'dims' | 'groups'>, { dims, data }: Tensor): InputMatrix {
  const values = data as ArrayLike<number>;
  const [batch = 1, channels = 1] = dims;
  const perGroup = channels / weight.groups;
  const windows = windowsOf(node, weight.dims, dims);
  const { sizes, kernel, dilations, outs } = windows;
  const perImage = outs[0] * outs[1] * outs[2];
  const pixels = sizes[0] * sizes[1] * sizes[2];
  return {
    positions: batch * perImage,
    read(group, start, length, block, at) {
      const corners = cornersOf(windows, start, length);
      let row = at;
      for (let channel = 0; channel < perGroup; channel++) {
        const first = (group * perGroup + channel) * pixels;
        for (let i = 0; i < kernel[0]; i++)
          for (let j = 0; j < kernel[1]; j++)
            for (let l = 0; l < kernel[2]; l++) {
              const [z, y, x] = [i * dilations[0], j * dilations[1], l * dilations[2]];
              for (let k = 0; k < length; k++) {
                const corner = 4 * k;
                const a = (corners[corner + 1] as number) + z;
                const b = (corners[corner + 2] as number) + y;
                const c = (corners[corner + 3] as number) + x;
                const isInside = a >= 0 && a < sizes[0] && b >= 0 && b < sizes[1] && c >= 0 && c < sizes[2];
                const from = first + (corners[corner] as number) * channels * pixels;
                block[row + k] = isInside ? (values[from + (a * sizes[1] + b) * sizes[2] + c] as number) : 0;
              }
              row += length;
            }
      }
    },
  };
}

type Triple = readonly [number, number, number];

interface Windows {
  readonly sizes: Triple;
  readonly kernel: Triple;
  readonly strides: Triple;
  readonly dilations: Triple;
  readonly before: Triple;
  /** Sizes of the output. */
  readonly outs: Triple;
}

function windowsOf(node: Node, weightDims: readonly number[], dims: readonly number[]): Windows {
  const rank = dims.length - 2;
  const sizes = toTriple(dims.slice(2), 1);
  const kernel = toTriple(weightDims.slice(2), 1);
  const strides = toTriple(findInts(node, 'strides') ?? Array<number>(rank).fill(1), 1);
  const dilations = toTriple(findInts(node, 'dilations') ?? Array<number>(rank).fill(1), 1);
  const pads = findInts(node, 'pads') ?? Array<number>(2 * rank).fill(0);
  const before = toTriple(pads.slice(0, rank), 0);
  const after = toTriple(pads.slice(rank), 0);
  const outAt = (axis: 0 | 1 | 2): number =>
    Math.floor((sizes[axis] + before[axis] + after[axis] - dilations[axis] * (kernel[axis] - 1) - 1) / strides[axis]) + 1;
  return { sizes, kernel, strides, dilations, before, outs: [outAt(0), outAt(1), outAt(2)] };
}

function toTriple(list: readonly number[], fill: number): Triple {
  const [x = fill, y = fill, z = fill] = [...list].reverse();
  return [z, y, x];
}

/** Per position its image, and where its window begins. */
function cornersOf({ strides, before, outs }: Windows, start: number, length: number): Int32Array {
  const corners = new Int32Array(4 * length);
  const perImage = outs[0] * outs[1] * outs[2];
  for (let k = 0; k < length; k++) {
    const place = (start + k) % perImage;
    corners[4 * k] = Math.floor((start + k) / perImage);
    corners[4 * k + 1] = Math.floor(place / (outs[1] * outs[2])) * strides[0] - before[0];
    corners[4 * k + 2] = (Math.floor(place / outs[2]) % outs[1]) * strides[1] - before[1];
    corners[4 * k + 3] = (place % outs[2]) * strides[2] - before[2];
  }
  return corners;
}
