/** Products of rows with the damped input products of their groups, by ONNX Runtime in float32. */
import { addInput, addNode, makeModel } from '../../../onnx/ir/edit.js';
import type { ValueId } from '../../../onnx/ir/model.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { CAPTURE_SESSION } from '../../../runtime/capture/capture.js';
import { openSession } from '../../../runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import type { DampedProducts } from './damped-products.js';

/** (H + λI)·x of each row: rows of all groups one after the other. */
export type Multiply = (rows: Float32Array) => Promise<Float32Array>;

/** H·x for all inputs outside of a part, of rows that are 0 outside of it. `rows` has the `size` inputs from `start` on. */
export type MultiplyPart = (rows: Float32Array, part: { readonly start: number; readonly size: number }) => Promise<Float32Array>;

export interface ProductsSession {
  /** For rows of `count` groups from `first` on. Several may run at the same time. */
  multiplierOf(first: number, count: number): Multiply;
  /** For rows of one group. */
  partMultiplierOf(group: number): MultiplyPart;
  close(): Promise<void>;
}

/** Sums are not split over threads, and their number is fixed: the bits are the same on every machine of a platform class. */
const SESSION = { ...CAPTURE_SESSION, threads: 2 } as const;

/** @param groups of one size. @throws RuntimeError `model-load`. */
export async function openProducts(groups: readonly DampedProducts[]): Promise<ProductsSession> {
  const [only, ...others] = groups;
  const size = only?.size ?? 0;
  const inputs = others.length === 0 ? only?.inputs : undefined;
  const products = await openSession(productModel(), SESSION);
  const factors = inputs === undefined ? undefined : await openSession(factorModel(), SESSION);
  const all = inputs === undefined ? joinProducts(groups, size) : floatsOf(only?.data);
  const feedsOf = (first: number, count: number): Readonly<Record<string, Tensor>> =>
    inputs === undefined
      ? { h: makeTensor('float32', [count, size, size], all.subarray(first * size * size, (first + count) * size * size)) }
      : factorsOf(inputs, size, only?.damping ?? 0);
  return {
    multiplierOf(first, count) {
      const feeds = feedsOf(first, count);
      return async rows => {
        const x = makeTensor('float32', [count, rows.length / count / size, size], rows);
        const { y } = await (factors ?? products).run({ ...feeds, x });
        return y?.data as Float32Array;
      };
    },
    partMultiplierOf: group => async (rows, part) => {
      const from = (group * size + part.start) * size;
      const h = makeTensor('float32', [1, part.size, size], all.subarray(from, from + part.size * size));
      const { y } = await products.run({ h, x: makeTensor('float32', [1, rows.length / part.size, part.size], rows) });
      return y?.data as Float32Array;
    },
    async close() {
      await products.close();
      await factors?.close();
    },
  };
}

/** H + λI of groups. */
function joinProducts(groups: readonly DampedProducts[], size: number): Float32Array {
  const all = new Float32Array(groups.length * size * size);
  for (const [group, { data, damping }] of groups.entries()) {
    const start = group * size * size;
    all.set(data, start);
    for (let i = 0; i < size; i++) all[start + i * size + i] = (all[start + i * size + i] as number) + damping;
  }
  return all;
}

function floatsOf(data: Float32Array | Float64Array = new Float32Array()): Float32Array {
  return data instanceof Float32Array ? data : Float32Array.from(data);
}

/** H as XᵀX, where X has few rows: two products with X take less than one with H. */
function factorsOf(inputs: Float32Array, size: number, damping: number): Readonly<Record<string, Tensor>> {
  const positions = inputs.length / size;
  return {
    inputs: makeTensor('float32', [positions, size], inputs),
    damping: makeTensor('float32', [], Float32Array.of(damping)),
  };
}

function productModel(): Uint8Array {
  const { model, input, add } = startModel();
  model.graph.outputs = [add('MatMul', [input('x', ['groups', 'rows', 'columns']), input('h', ['groups', 'columns', 'outputs'])], 'y')];
  return encodeModel(model);
}

function factorModel(): Uint8Array {
  const { model, input, add } = startModel();
  const x = input('x', ['groups', 'rows', 'columns']);
  const inputs = input('inputs', ['positions', 'columns']);
  const own = add('MatMul', [add('MatMul', [x, add('Transpose', [inputs], 'turned')], 'outputs'), inputs], 'products');
  model.graph.outputs = [add('Add', [own, add('Mul', [x, input('damping', [])], 'damped')], 'y')];
  return encodeModel(model);
}

function startModel() {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'products' });
  return {
    model,
    input: (name: string, dims: readonly string[]): ValueId =>
      addInput(model, model.graph, name, { kind: 'tensor', dtype: 'float32', dims }).id,
    add(opType: string, inputs: readonly ValueId[], output: string): ValueId {
      const [id] = addNode(model, model.graph, { opType, name: output, inputs, outputs: [output] }).outputs;
      return id as ValueId;
    },
  };
}
