/** Sums of products of a layer's inputs, H = Σ x·xᵀ: what the error of its output depends on. */
import { findInts } from '../../../onnx/ir/attribute.js';
import type { Node } from '../../../onnx/ir/model.js';
import type { Tensor } from '../../../tensor/tensor.js';
import type { LayerWeight } from './layer-weight.js';
import type { SquareMatrix } from './triangular-factor.js';

/** Columns of inputs that are multiplied at a time: 512 of 4,608 inputs take 9 MB. */
const BLOCK = 512;

export function makeInputProducts({ groups, columns }: Pick<LayerWeight, 'groups' | 'columns'>): readonly SquareMatrix[] {
  return Array.from({ length: groups }, () => ({ size: columns, data: new Float64Array(columns * columns) }));
}

/** Products of inputs with the outputs that the float layer gives at the same positions, without its bias: Σ x·y, a row per output. */
export interface OutputProducts {
  readonly bias: ArrayLike<number>;
  /** One per row of the weight, of all groups. */
  readonly rows: readonly Float64Array[];
}

export function makeOutputProducts({ rows, columns }: Pick<LayerWeight, 'rows' | 'columns'>, bias: ArrayLike<number>): OutputProducts {
  return { bias, rows: Array.from({ length: rows }, () => new Float64Array(columns)) };
}

export interface LayerSample {
  readonly input: Tensor;
  /** What the float layer computes. */
  readonly output: Tensor;
}

/**
 * Adds one sample to the upper triangles, one matrix per group, and to the products with outputs.
 * Sums are in double precision, in the order of the positions.
 */
export function addInputProducts(
  sums: readonly SquareMatrix[],
  targets: OutputProducts | undefined,
  node: Node,
  weight: Pick<LayerWeight, 'dims' | 'groups'>,
  { input, output }: LayerSample,
): void {
  for (const [group, sum] of sums.entries()) {
    const visit = node.opType === 'Conv' ? convolutionInputs(node, weight, input, group) : plainInputs(node, input);
    const block = new Float32Array(sum.size * BLOCK);
    for (let start = 0; start < visit.positions; start += BLOCK) {
      const length = Math.min(BLOCK, visit.positions - start);
      visit.read(start, length, block);
      addProducts(sum, block, length);
      if (targets !== undefined) addTargets(targets, group, sums.length, { block, start, length }, output);
    }
  }
}

interface Block {
  readonly block: Float32Array;
  readonly start: number;
  readonly length: number;
}

/** Positions of the output are in the order of the inputs: image by image, then row by row. */
function addTargets({ bias, rows }: OutputProducts, group: number, groups: number, { block, start, length }: Block, output: Tensor): void {
  const values = output.data as ArrayLike<number>;
  const perImage = output.dims.slice(2).reduce((product, dim) => product * dim, 1);
  const wanted = new Float64Array(length);
  const perGroup = rows.length / groups;
  for (let row = group * perGroup; row < (group + 1) * perGroup; row++) {
    const sum = rows[row] as Float64Array;
    for (let k = 0; k < length; k++) {
      const image = Math.floor((start + k) / perImage);
      wanted[k] = (values[(image * rows.length + row) * perImage + ((start + k) % perImage)] as number) - (bias[row] as number);
    }
    for (let column = 0; column < sum.length; column++) {
      const at = column * BLOCK;
      let product = 0;
      for (let k = 0; k < length; k++) product += (block[at + k] as number) * (wanted[k] as number);
      sum[column] = (sum[column] as number) + product;
    }
  }
}

/** The inputs of one group as a matrix: a row per input, a column per position. */
interface Inputs {
  readonly positions: number;
  /** Writes `length` columns from `start` on into the rows of `block`, each BLOCK long. */
  read(start: number, length: number, block: Float32Array): void;
}

/** Four columns at a time, so that each element of the row is read once for four products. */
function addProducts({ size, data }: SquareMatrix, block: Float32Array, length: number): void {
  for (let row = 0; row < size; row++) {
    const a = row * BLOCK;
    const start = row * size;
    let column = row;
    for (; column + 4 <= size; column += 4) {
      const b = column * BLOCK;
      let [s0, s1, s2, s3] = [0, 0, 0, 0];
      for (let k = 0; k < length; k++) {
        const x = block[a + k] as number;
        s0 += x * (block[b + k] as number);
        s1 += x * (block[b + BLOCK + k] as number);
        s2 += x * (block[b + 2 * BLOCK + k] as number);
        s3 += x * (block[b + 3 * BLOCK + k] as number);
      }
      data[start + column] = (data[start + column] as number) + s0;
      data[start + column + 1] = (data[start + column + 1] as number) + s1;
      data[start + column + 2] = (data[start + column + 2] as number) + s2;
      data[start + column + 3] = (data[start + column + 3] as number) + s3;
    }
    for (; column < size; column++) {
      const b = column * BLOCK;
      let sum = 0;
      for (let k = 0; k < length; k++) sum += (block[a + k] as number) * (block[b + k] as number);
      data[start + column] = (data[start + column] as number) + sum;
    }
  }
}

/** Gemm: rows of the input are positions. ConvTranspose without overlap: pixels are. */
function plainInputs(node: Node, { dims, data }: Tensor): Inputs {
  const values = data as ArrayLike<number>;
  const [rows = 1, channels = 1] = dims;
  const inner = node.opType === 'Gemm' ? 1 : dims.slice(2).reduce((product, dim) => product * dim, 1);
  return {
    positions: rows * inner,
    read(start, length, block) {
      for (let k = 0; k < length; k++) {
        const position = start + k;
        const from = Math.floor(position / inner) * channels * inner + (position % inner);
        for (let channel = 0; channel < channels; channel++) block[channel * BLOCK + k] = values[from + channel * inner] ?? 0;
      }
    },
  };
}

/** Conv of rank 3 to 5 as windows of rank 3: missing axes have size 1. */
function convolutionInputs(node: Node, weight: Pick<LayerWeight, 'dims' | 'groups'>, { dims, data }: Tensor, group: number): Inputs {
  const values = data as ArrayLike<number>;
  const rank = dims.length - 2;
  const [batch = 1, channels = 1] = dims;
  const perGroup = channels / weight.groups;
  const pad = (list: readonly number[], fill: number): readonly number[] => [...Array<number>(3 - rank).fill(fill), ...list];
  const sizes = pad(dims.slice(2), 1);
  const kernel = pad(weight.dims.slice(2), 1);
  const ones = Array<number>(rank).fill(1);
  const strides = pad(findInts(node, 'strides') ?? ones, 1);
  const dilations = pad(findInts(node, 'dilations') ?? ones, 1);
  const pads = findInts(node, 'pads') ?? Array<number>(2 * rank).fill(0);
  const before = pad(pads.slice(0, rank), 0);
  const after = pad(pads.slice(rank), 0);
  const outs = sizes.map(
    (size, i) => Math.floor((size + at(before, i) + at(after, i) - at(dilations, i) * (at(kernel, i) - 1) - 1) / at(strides, i)) + 1,
  );
  const perImage = at(outs, 0) * at(outs, 1) * at(outs, 2);
  const pixels = at(sizes, 0) * at(sizes, 1) * at(sizes, 2);
  return {
    positions: batch * perImage,
    read(start, length, block) {
      for (let k = 0; k < length; k++) {
        const image = Math.floor((start + k) / perImage);
        const place = (start + k) % perImage;
        const [z, y, x] = [
          Math.floor(place / (at(outs, 1) * at(outs, 2))) * at(strides, 0) - at(before, 0),
          (Math.floor(place / at(outs, 2)) % at(outs, 1)) * at(strides, 1) - at(before, 1),
          (place % at(outs, 2)) * at(strides, 2) - at(before, 2),
        ];
        let row = 0;
        for (let channel = 0; channel < perGroup; channel++) {
          const from = (image * channels + group * perGroup + channel) * pixels;
          for (let i = 0; i < at(kernel, 0); i++)
            for (let j = 0; j < at(kernel, 1); j++)
              for (let l = 0; l < at(kernel, 2); l++) {
                const [a, b, c] = [z + i * at(dilations, 0), y + j * at(dilations, 1), x + l * at(dilations, 2)];
                const isInside = a >= 0 && a < at(sizes, 0) && b >= 0 && b < at(sizes, 1) && c >= 0 && c < at(sizes, 2);
                block[row++ * BLOCK + k] = isInside ? (values[from + (a * at(sizes, 1) + b) * at(sizes, 2) + c] ?? 0) : 0;
              }
        }
      }
    },
  };
}

function at(list: readonly number[], index: number): number {
  return list[index] ?? 1;
}
