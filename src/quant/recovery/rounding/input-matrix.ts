/** The inputs of a layer as a matrix: a row per input that an output sums over, a column per position of the output. */
import { findInts } from '../../../onnx/ir/attribute.js';
import type { Node } from '../../../onnx/ir/model.js';
import type { Tensor } from '../../../tensor/tensor.js';
import type { LayerWeight } from './layer-weight.js';

/** Positions are in the order of the output: image by image, then row by row. */
export interface InputMatrix {
  readonly positions: number;
  /** Writes some columns of one group: a row per input. Places outside of the input (padding) are not written. */
  read(group: number, positions: Positions, block: Float32Array, place: Place): void;
}

export interface Positions {
  readonly start: number;
  readonly length: number;
}

/** Where rows are written: the first one from index `at` on, the others `stride` apart. */
export interface Place {
  readonly at: number;
  readonly stride: number;
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
    read(_group, { start, length }, block, { at, stride }) {
      for (let k = 0; k < length; k++) {
        const position = start + k;
        const from = Math.floor(position / inner) * channels * inner + (position % inner);
        for (let channel = 0; channel < channels; channel++) block[at + channel * stride + k] = values[from + channel * inner] ?? 0;
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
  const { sizes, kernel, strides, dilations, outs } = windows;
  const perImage = outs[0] * outs[1] * outs[2];
  const pixels = sizes[0] * sizes[1] * sizes[2];
  return {
    positions: batch * perImage,
    read(group, { start, length }, block, { at, stride }) {
      const runs = cutRuns(windows, start, length);
      let row = at;
      const taps = [...tapsOf(kernel, dilations)].map(tap => copiesOf(tap, runs, windows, channels * pixels));
      for (let channel = 0; channel < perGroup; channel++) {
        const first = (group * perGroup + channel) * pixels;
        for (const copies of taps) {
          copyAll(values, first, copies, strides[2], block, row);
          row += stride;
        }
      }
    },
  };
}

/** Places of a kernel, in the order of its weights: how far each is from the corner. */
function* tapsOf([depth, height, width]: Triple, dilations: Triple): Iterable<Triple> {
  for (let i = 0; i < depth; i++)
    for (let j = 0; j < height; j++) for (let l = 0; l < width; l++) yield [i * dilations[0], j * dilations[1], l * dilations[2]];
}

/** Three numbers per run of elements: the first one in the first channel, where it is written, and how many they are. The same for all channels. */
function copiesOf([z, y, x]: Triple, runs: readonly Run[], { sizes, strides }: Windows, perImage: number): Int32Array {
  const copies = new Int32Array(3 * runs.length);
  let end = 0;
  for (const run of runs) {
    const [a, b, c] = [run.z + z, run.y + y, run.x + x];
    if (a < 0 || a >= sizes[0] || b < 0 || b >= sizes[1]) continue;
    const skipped = c < 0 ? Math.ceil(-c / strides[2]) : 0;
    const count = Math.min(run.length, Math.ceil((sizes[2] - c) / strides[2])) - skipped;
    if (count <= 0) continue;
    const source = run.image * perImage + (a * sizes[1] + b) * sizes[2] + c + skipped * strides[2];
    const [before, at, length] = [end - 3, run.at + skipped, count];
    // Where lines follow one another in both, as without padding, they are one run.
    const isNext =
      before >= 0 &&
      strides[2] === 1 &&
      (copies[before] as number) + (copies[before + 2] as number) === source &&
      (copies[before + 1] as number) + (copies[before + 2] as number) === at;
    if (isNext) copies[before + 2] = (copies[before + 2] as number) + length;
    else {
      copies.set([source, at, length], end);
      end += 3;
    }
  }
  return copies.subarray(0, end);
}

/** From so many elements on, copying them at once takes less than one by one. */
const MANY = 32;

function copyAll(values: ArrayLike<number>, first: number, copies: Int32Array, step: number, block: Float32Array, row: number): void {
  for (let i = 0; i < copies.length; i += 3) {
    const [source, at, count] = [first + (copies[i] as number), row + (copies[i + 1] as number), copies[i + 2] as number];
    if (step === 1 && count >= MANY && values instanceof Float32Array) block.set(values.subarray(source, source + count), at);
    else for (let k = 0; k < count; k++) block[at + k] = values[source + k * step] as number;
  }
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

/** Positions of one line of an output: the corner of the first one's window, and where they are among the positions that are read. */
interface Run {
  readonly image: number;
  readonly z: number;
  readonly y: number;
  readonly x: number;
  readonly at: number;
  readonly length: number;
}

function cutRuns({ strides, before, outs }: Windows, start: number, length: number): readonly Run[] {
  const runs: Run[] = [];
  const [, height, width] = outs;
  for (let at = 0; at < length; ) {
    const line = Math.floor((start + at) / width);
    const column = (start + at) % width;
    const own = Math.min(width - column, length - at);
    runs.push({
      image: Math.floor(line / (outs[0] * height)),
      z: (Math.floor(line / height) % outs[0]) * strides[0] - before[0],
      y: (line % height) * strides[1] - before[1],
      x: column * strides[2] - before[2],
      at,
      length: own,
    });
    at += own;
  }
  return runs;
}
