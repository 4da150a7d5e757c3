/** Products of a layer's inputs with each other and with its outputs, summed over blocks of positions, by ONNX Runtime in float32. */
import { addInput, addNode, makeModel } from '../../../onnx/ir/edit.js';
import type { ValueId } from '../../../onnx/ir/model.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { CAPTURE_SESSION } from '../../../runtime/capture/capture.js';
import { openSession, type Session } from '../../../runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import type { LayerWeight } from './layer-weight.js';
import { TWO_THREADS } from './two-threads.js';

/** Inputs as [groups, columns, positions], and outputs as [groups, rows of a group, positions], unless there are no targets. */
export interface PositionBlock {
  readonly x: Tensor<'float32'>;
  readonly y?: Tensor<'float32'>;
}

export interface ProductSums {
  /** Adds Σ x·xᵀ per group and Σ y·xᵀ, or the latter alone. @throws RuntimeError `model-run`. */
  add(block: PositionBlock, wanted: 'both' | 'targets'): Promise<void>;
  isEmpty(): boolean;
  /** Σ x·xᵀ of each group, one after the other, both triangles. Nothing can be added then. */
  takeProducts(): Float32Array;
  /** Σ y·xᵀ, row after row. */
  readonly targets: Float32Array;
  close(): Promise<void>;
}

/** `rows` are those of all groups. */
export type SumSizes = Pick<LayerWeight, 'groups' | 'rows' | 'columns'>;

/** Opens the sums of a layer. @throws RuntimeError `model-load`. */
export function openProductSums({ groups, rows, columns }: SumSizes, targets: 'with targets' | 'alone'): Promise<ProductSums> {
  const own = new Float32Array(targets === 'alone' ? 0 : rows * columns);
  // ONNX Runtime sums products with a vector in another order in Gemm.
  return groups === 1 && rows > 1 && columns > 1 ? sumOneGroup(columns, own) : sumGroups(groups, columns, own);
}

/** Most rows of Σ x·xᵀ that are computed at a time, up to the diagonal: of 2,304 inputs, 56 % of the matrix. */
const ROWS_AT_ONCE = 256;

/**
 * From so many inputs on, each of two threads has so many columns of a product that ONNX Runtime cuts its sums where one thread does: the bits are the
 * same. With fewer they can differ, as on processors for which it cuts work finer: these are a platform class of their own.
 */
const COLUMNS_OF_TWO_THREADS = 256;

async function sumOneGroup(columns: number, targets: Float32Array): Promise<ProductSums> {
  const session = await openSession(rowsModel(), columns < COLUMNS_OF_TWO_THREADS ? { ...CAPTURE_SESSION, threads: 1 } : TWO_THREADS);
  const rows = Math.ceil(columns / Math.ceil(columns / ROWS_AT_ONCE));
  let products: Float32Array | undefined;
  const multiply = async (a: Tensor, b: Tensor): Promise<Float32Array> => dataOf((await session.run({ a, b })).product);
  return {
    async add({ x, y }, wanted) {
      const positions = x.dims[2] as number;
      const rowsOf = (start: number, end: number): Tensor<'float32'> =>
        makeTensor('float32', [end - start, positions], x.data.subarray(start * positions, end * positions));
      if (wanted === 'both') {
        products ??= new Float32Array(columns * columns);
        for (let start = 0; start < columns; start += rows) {
          const end = Math.min(columns, start + rows);
          const own = await multiply(rowsOf(start, end), rowsOf(0, end));
          for (let row = start; row < end; row++) addPart(products, row * columns, own, (row - start) * end, end);
        }
      }
      if (y === undefined) return;
      const own = await multiply(makeTensor('float32', [y.dims[1] as number, positions], y.data), rowsOf(0, columns));
      addPart(targets, 0, own, 0, own.length);
    },
    isEmpty: () => products === undefined,
    takeProducts: () => mirror(products ?? new Float32Array(columns * columns), columns),
    targets,
    close: session.close,
  };
}

/** Many small products: all in one run, in one thread. */
async function sumGroups(groups: number, columns: number, targets: Float32Array): Promise<ProductSums> {
  const session = await openSession(groupsModel(targets.length > 0), { ...CAPTURE_SESSION, threads: 1 });
  let products: Float32Array | undefined;
  return {
    async add(block, wanted) {
      const { h, t } = await session.run({ ...block }, wanted === 'targets' ? ['t'] : undefined);
      if (h !== undefined) {
        if (products === undefined) products = dataOf(h);
        else addPart(products, 0, dataOf(h), 0, products.length);
      }
      if (t !== undefined) addPart(targets, 0, dataOf(t), 0, targets.length);
    },
    isEmpty: () => products === undefined,
    takeProducts: () => products ?? new Float32Array(groups * columns * columns),
    targets,
    close: session.close,
  };
}

function dataOf(tensor: Awaited<ReturnType<Session['run']>>[string] | undefined): Float32Array {
  return tensor?.data as Float32Array;
}

function addPart(sum: Float32Array, at: number, added: Float32Array, from: number, count: number): void {
  for (let i = 0; i < count; i++) sum[at + i] = (sum[at + i] as number) + (added[from + i] as number);
}

/** Rows are mirrored in squares of this size, which a processor's cache holds. */
const SQUARE = 64;

/** Copies what is below the diagonal to above it. */
function mirror(matrix: Float32Array, size: number): Float32Array {
  for (let top = 0; top < size; top += SQUARE) {
    for (let left = 0; left <= top; left += SQUARE) {
      const bottom = Math.min(size, top + SQUARE);
      for (let row = top; row < bottom; row++)
        for (let column = left, end = Math.min(row, left + SQUARE); column < end; column++)
          matrix[column * size + row] = matrix[row * size + column] as number;
    }
  }
  return matrix;
}

/** product = a·bᵀ. */
function rowsModel(): Uint8Array {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'products' });
  const input = (name: string, rows: string): ValueId =>
    addInput(model, model.graph, name, { kind: 'tensor', dtype: 'float32', dims: [rows, 'positions'] }).id;
  const node = addNode(model, model.graph, {
    opType: 'Gemm',
    name: 'product',
    inputs: [input('a', 'rows'), input('b', 'columns')],
    outputs: ['product'],
    attributes: { transB: { kind: 'int', value: 1n } },
  });
  model.graph.outputs = [...node.outputs] as ValueId[];
  return encodeModel(model);
}

/** h = x·xᵀ and t = y·xᵀ of each group. */
function groupsModel(withTargets: boolean): Uint8Array {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'products' });
  const { graph } = model;
  const input = (name: string, rows: string): ValueId =>
    addInput(model, graph, name, { kind: 'tensor', dtype: 'float32', dims: ['groups', rows, 'positions'] }).id;
  const add = (opType: string, inputs: readonly ValueId[], output: string, attributes = {}): ValueId =>
    addNode(model, graph, { opType, name: output, inputs: [...inputs], outputs: [output], attributes }).outputs[0] as ValueId;
  const x = input('x', 'columns');
  const turned = add('Transpose', [x], 'turned', { perm: { kind: 'ints', value: [0n, 2n, 1n] } });
  const outputs = [add('MatMul', [x, turned], 'h')];
  if (withTargets) outputs.push(add('MatMul', [input('y', 'rows'), turned], 't'));
  graph.outputs = outputs;
  return encodeModel(model);
}
