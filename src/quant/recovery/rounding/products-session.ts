/** Products of rows with the damped input products of their groups, by ONNX Runtime in float32. */
import { addInput, addNode, makeModel } from '../../../onnx/ir/edit.js';
import type { ValueId } from '../../../onnx/ir/model.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { openSession, type Session } from '../../../runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import type { GroupSums, InputRows } from './layer-sums.js';
import { TWO_THREADS } from './two-threads.js';

/** (H + λI)·x of each row: rows of all groups one after the other. */
export type Multiply = (rows: Float32Array) => Promise<Float32Array>;

/** H·x for all inputs outside of a part, of rows that are 0 outside of it. `rows` has the `size` inputs from `start` on. */
export type MultiplyPart = (rows: Float32Array, part: InputPart) => Promise<Float32Array>;

/** Inputs from `start` on. */
export interface InputPart {
  readonly start: number;
  readonly size: number;
}

export interface ProductsSession {
  /** For rows of the groups from `first` on, as many as there are `dampings`: λ of each. */
  multiplierOf(first: number, dampings: readonly number[]): Multiply;
  /** For rows of one group. */
  partMultiplierOf(group: number): MultiplyPart;
  /** H of a part of a group's inputs. */
  productsOf(group: number, part: InputPart): Promise<Float32Array>;
  close(): Promise<void>;
}

/** @param groups of one size; several have products. @throws RuntimeError `model-load`. */
export async function openProducts(groups: readonly GroupSums[]): Promise<ProductsSession> {
  const [only, ...others] = groups;
  if (only?.kind === 'inputs' && others.length === 0) return openByInputs(only);
  return openByProducts(groups, only?.size ?? 0);
}

async function openByProducts(groups: readonly GroupSums[], size: number): Promise<ProductsSession> {
  const damped = await openSession(dampedModel(), TWO_THREADS);
  const plain = await openSession(plainModel(), TWO_THREADS);
  const all = joinProducts(groups, size);
  const rowsOf = (group: number, { start, size: count }: InputPart): Float32Array =>
    all.subarray((group * size + start) * size, (group * size + start + count) * size);
  return {
    multiplierOf(first, dampings) {
      const count = dampings.length;
      const h = makeTensor('float32', [count, size, size], all.subarray(first * size * size, (first + count) * size * size));
      const lambda = makeTensor('float32', [count, 1, 1], Float32Array.from(dampings));
      return async rows =>
        dataOf(await damped.run({ h, lambda, x: makeTensor('float32', [count, rows.length / count / size, size], rows) }));
    },
    partMultiplierOf: group => async (rows, part) => {
      const h = makeTensor('float32', [1, part.size, size], rowsOf(group, part));
      return dataOf(await plain.run({ h, x: makeTensor('float32', [1, rows.length / part.size, part.size], rows) }));
    },
    async productsOf(group, part) {
      const rows = rowsOf(group, part);
      const products = new Float32Array(part.size * part.size);
      for (let row = 0; row < part.size; row++)
        products.set(rows.subarray(row * size + part.start, row * size + part.start + part.size), row * part.size);
      return products;
    },
    async close() {
      await damped.close();
      await plain.close();
    },
  };
}

/** H of each group, one after the other; that of one group is not copied. */
function joinProducts(groups: readonly GroupSums[], size: number): Float32Array {
  const [only] = groups;
  if (groups.length === 1 && only?.data instanceof Float32Array) return only.data;
  const all = new Float32Array(groups.length * size * size);
  for (const [group, { data }] of groups.entries()) all.set(data, group * size * size);
  return all;
}

/** Where inputs have few rows, two products with them take less than one with H, which is never computed. */
async function openByInputs({ data, positions, size }: InputRows): Promise<ProductsSession> {
  const damped = await openSession(factorModel(), TWO_THREADS);
  const plain = await openSession(twoFactorsModel(), TWO_THREADS);
  const squares = await openSession(squaresModel(), TWO_THREADS);
  const inputs = makeTensor('float32', [positions, size], data);
  // Turned once, as every product takes them.
  const columns = turn(data, positions, size);
  const turned = makeTensor('float32', [size, positions], columns);
  const turnedPart = ({ start, size: count }: InputPart): Tensor<'float32'> =>
    makeTensor('float32', [count, positions], columns.subarray(start * positions, (start + count) * positions));
  return {
    multiplierOf(_first, dampings) {
      const lambda = makeTensor('float32', [], Float32Array.from(dampings));
      return async rows => dataOf(await damped.run({ inputs, turned, lambda, x: makeTensor('float32', [rows.length / size, size], rows) }));
    },
    partMultiplierOf: () => async (rows, own) =>
      dataOf(await plain.run({ inputs, turned: turnedPart(own), x: makeTensor('float32', [rows.length / own.size, own.size], rows) })),
    productsOf: async (_group, own) => dataOf(await squares.run({ turned: turnedPart(own) })),
    async close() {
      await damped.close();
      await plain.close();
      await squares.close();
    },
  };
}

/** Element (row, column) becomes (column, row). */
function turn(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(matrix.length);
  for (let left = 0; left < columns; left += STRIPE) {
    const right = Math.min(columns, left + STRIPE);
    for (let row = 0; row < rows; row++)
      for (let column = left; column < right; column++) turned[column * rows + row] = matrix[row * columns + column] as number;
  }
  return turned;
}

/** Columns that are turned at a time: a processor's cache holds a line of each. */
const STRIPE = 64;

function dataOf({ y }: Awaited<ReturnType<Session['run']>>): Float32Array {
  return y?.data as Float32Array;
}

function dampedModel(): Uint8Array {
  const { input, add, end } = startModel();
  const x = input('x', ['groups', 'rows', 'columns']);
  const own = add('MatMul', [x, input('h', ['groups', 'columns', 'outputs'])], 'products');
  return end(add('Add', [own, add('Mul', [x, input('lambda', ['groups', 'one', 'one'])], 'damped')], 'y'));
}

function plainModel(): Uint8Array {
  const { input, add, end } = startModel();
  return end(add('MatMul', [input('x', ['groups', 'rows', 'columns']), input('h', ['groups', 'columns', 'outputs'])], 'y'));
}

/** (x·Xᵀ)·X + λ·x. */
function factorModel(): Uint8Array {
  const { input, add, end } = startModel();
  const [x, inputs] = [input('x', ['rows', 'columns']), input('inputs', ['positions', 'columns'])];
  const own = add('MatMul', [add('MatMul', [x, input('turned', ['columns', 'positions'])], 'outputs'), inputs], 'products');
  return end(add('Add', [own, add('Mul', [x, input('lambda', [])], 'damped')], 'y'));
}

/** (x·Pᵀ)·X with P a part of the columns of X. */
function twoFactorsModel(): Uint8Array {
  const { input, add, end } = startModel();
  const [x, inputs] = [input('x', ['rows', 'own']), input('inputs', ['positions', 'columns'])];
  return end(add('MatMul', [add('MatMul', [x, input('turned', ['own', 'positions'])], 'outputs'), inputs], 'y'));
}

/** Pᵀ·P. */
function squaresModel(): Uint8Array {
  const { input, add, end } = startModel();
  const turned = input('turned', ['own', 'positions']);
  return end(add('MatMul', [turned, add('Transpose', [turned], 'part')], 'y'));
}

function startModel() {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'products' });
  return {
    input: (name: string, dims: readonly string[]): ValueId =>
      addInput(model, model.graph, name, { kind: 'tensor', dtype: 'float32', dims }).id,
    add(opType: string, inputs: readonly ValueId[], output: string): ValueId {
      const [id] = addNode(model, model.graph, { opType, name: output, inputs, outputs: [output] }).outputs;
      return id as ValueId;
    },
    end(output: ValueId): Uint8Array {
      model.graph.outputs = [output];
      return encodeModel(model);
    },
  };
}
