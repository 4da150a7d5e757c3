/** Sums over samples that the error of a layer's output depends on: products of its inputs with each other, and with what the float layer computes. */
import type { Node } from '../../../onnx/ir/model.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import { type InputMatrix, inputMatrixOf, type Place, type Positions } from './input-matrix.js';
import type { LayerWeight } from './layer-weight.js';
import { openProductSums } from './product-sums.js';
import type { SquareMatrix } from './square-matrix.js';

export interface LayerSums {
  readonly groups: readonly GroupSums[];
  /** Σ x·y per row of the weight, without the bias in y; undefined if the outputs are not the sums of rows. */
  readonly targets: readonly Float32Array[] | undefined;
  /** Some positions of the samples that judge; undefined if there are none, or no targets. */
  readonly judged: JudgedPositions | undefined;
}

/** Inputs as [groups, columns, positions], and outputs without the bias as [groups, rows of a group, positions]. */
export interface JudgedPositions {
  readonly groups: number;
  readonly columns: number;
  readonly positions: number;
  readonly inputs: Float32Array;
  readonly outputs: Float32Array;
}

/** H = Σ x·xᵀ of one group, both triangles; or the inputs themselves, which define it. */
export type GroupSums = ({ readonly kind: 'products' } & SquareMatrix) | ({ readonly kind: 'inputs' } & InputRows);

/** X with H = XᵀX: a row per position. */
export interface InputRows {
  readonly size: number;
  readonly positions: number;
  readonly data: Float32Array;
}

export interface LayerSample {
  readonly input: Tensor;
  /** What the float layer computes. */
  readonly output: Tensor;
}

export interface SumLayer {
  add(sample: LayerSample): Promise<void>;
  /** Keeps at most `most` positions of a sample that judges, evenly spaced. */
  judge(sample: LayerSample, most: number): void;
  /** The sums over all samples. Nothing can be added then. */
  finish(): Promise<LayerSums>;
  close(): Promise<void>;
}

export interface SumOptions {
  /** One number per row; undefined: without targets. */
  readonly bias: ArrayLike<number> | undefined;
  /** 'inputs': less than half as many positions as inputs of an output are kept instead of their products, where the layer has one group. */
  readonly few: 'products' | 'inputs';
  /** How many samples are added: inputs that wait for their product have room for them, if they are as large as the first one. */
  readonly samples: number;
}

/** Elements of inputs that are multiplied at a time: 16 MB. */
const BLOCK_ELEMENTS = 4 << 20;

/** Products of a block of positions are by ONNX Runtime in float32; blocks hold the positions of all samples in their order. */
export async function openLayerSums(node: Node, weight: LayerWeight, { bias, few, samples }: SumOptions): Promise<SumLayer> {
  const { groups, rows, columns } = weight;
  const sums = await openProductSums(weight, bias === undefined ? 'alone' : 'with targets');
  const block = makeBlock(weight, { bias, pieces: few === 'products' ? 1 : samples });
  const judging = makeBlock(weight, { bias, pieces: samples });
  const multiply = async (wanted: 'both' | 'targets'): Promise<void> => {
    await sums.add(block.feeds(), wanted);
    block.clear();
  };
  return {
    async add({ input, output }) {
      const matrix = inputMatrixOf(node, weight, input);
      for (let start = 0; start < matrix.positions; ) {
        if (block.room(matrix.positions) === 0) await multiply('both');
        const length = Math.min(block.room(matrix.positions), matrix.positions - start);
        block.add(matrix, output, start, length);
        start += length;
        // Sample by sample: the bits of the sum do not depend on how many samples a block has room for.
        if (few === 'products') await multiply('both');
      }
    },
    judge({ input, output }, most) {
      if (bias === undefined) return;
      const matrix = inputMatrixOf(node, weight, input);
      const count = Math.min(most, matrix.positions);
      for (let k = 0; k < count && judging.room(count) > 0; k++) judging.add(matrix, output, Math.floor((k * matrix.positions) / count), 1);
    },
    async finish() {
      const kept = few === 'inputs' && sums.isEmpty() && groups === 1 ? block.fewInputs() : undefined;
      if (kept === undefined) {
        if (block.filled() > 0) await multiply('both');
      } else if (bias !== undefined) await multiply('targets');
      return {
        groups: kept === undefined ? cutProducts(sums.takeProducts(), groups, columns) : [kept],
        judged: judging.positions(),
        targets: bias === undefined ? undefined : Array.from({ length: rows }, (_, row) => slice(sums.targets, row, columns)),
      };
    },
    close: sums.close,
  };
}

function cutProducts(products: Float32Array, groups: number, size: number): readonly GroupSums[] {
  return Array.from({ length: groups }, (_, group) => ({ kind: 'products' as const, size, data: slice(products, group, size * size) }));
}

function slice(all: Float32Array, index: number, length: number): Float32Array {
  return all.subarray(index * length, (index + 1) * length);
}

/** Positions that wait for their products. */
function makeBlock(weight: LayerWeight, { bias, pieces }: { bias: ArrayLike<number> | undefined; pieces: number }) {
  const { groups, rows, columns } = weight;
  const most = Math.max(1, Math.floor(BLOCK_ELEMENTS / (groups * columns)));
  const makeMatrices = (capacity: number) => ({
    capacity,
    /** Inputs as [groups, columns, capacity]. */
    x: new Float32Array(groups * columns * capacity),
    /** Outputs as [groups, rows of a group, capacity]. */
    y: new Float32Array(bias === undefined ? 0 : rows * capacity),
  });
  let matrices = makeMatrices(0);
  let filled = 0;
  /** Without the places that are not filled. */
  const cut = (matrix: Float32Array): Float32Array => {
    const { capacity } = matrices;
    if (filled === capacity) return matrix;
    const cut = new Float32Array((matrix.length / capacity) * filled);
    for (let row = 0; row * filled < cut.length; row++) cut.set(matrix.subarray(row * capacity, row * capacity + filled), row * filled);
    return cut;
  };
  return {
    /** @param wanted number of positions of the sample. */
    room(wanted: number): number {
      if (matrices.capacity === 0) matrices = makeMatrices(Math.min(most, wanted * pieces));
      return matrices.capacity - filled;
    },
    add(matrix: InputMatrix, output: Tensor, start: number, length: number): void {
      const { capacity, x, y } = matrices;
      const place = (index: number): Place => ({ at: index * columns * capacity + filled, stride: capacity });
      for (let group = 0; group < groups; group++) matrix.read(group, { start, length }, x, place(group));
      if (bias !== undefined) readOutputs(output, bias, { start, length }, y, { at: filled, stride: capacity });
      filled += length;
    },
    filled: () => filled,
    feeds: () => ({
      x: makeTensor('float32', [groups, columns, filled], cut(matrices.x)),
      ...(bias === undefined ? {} : { y: makeTensor('float32', [groups, rows / groups, filled], cut(matrices.y)) }),
    }),
    clear(): void {
      // Padding is not written.
      matrices.x.fill(0);
      filled = 0;
    },
    positions(): JudgedPositions | undefined {
      return filled === 0 ? undefined : { groups, columns, positions: filled, inputs: cut(matrices.x), outputs: cut(matrices.y) };
    },
    /** Fewer than half as many positions as columns, of one group. */
    fewInputs(): GroupSums | undefined {
      if (filled === 0 || 2 * filled >= columns) return undefined;
      const { capacity, x } = matrices;
      const data = new Float32Array(filled * columns);
      for (let column = 0; column < columns; column++)
        for (let k = 0; k < filled; k++) data[k * columns + column] = x[column * capacity + k] as number;
      return { kind: 'inputs', size: columns, positions: filled, data };
    },
  };
}

/** A row per channel, without the bias. */
function readOutputs(
  { dims, data }: Tensor,
  bias: ArrayLike<number>,
  { start, length }: Positions,
  block: Float32Array,
  { at, stride }: Place,
): void {
  const values = data as ArrayLike<number>;
  const perImage = dims.slice(2).reduce((product, dim) => product * dim, 1);
  const rows = bias.length;
  for (let k = 0; k < length; ) {
    const [image, place] = [Math.floor((start + k) / perImage), (start + k) % perImage];
    const own = Math.min(perImage - place, length - k);
    for (let row = 0; row < rows; row++) {
      const [shift, from, to] = [bias[row] as number, (image * rows + row) * perImage + place, at + row * stride + k];
      for (let i = 0; i < own; i++) block[to + i] = (values[from + i] as number) - shift;
    }
    k += own;
  }
}
