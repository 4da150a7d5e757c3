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

export interface ProductsSession {
  /** For rows of `count` groups from `first` on. Several may run at the same time. */
  multiplierOf(first: number, count: number): Multiply;
  close(): Promise<void>;
}

/** @param groups of one size. @throws RuntimeError `model-load`. */
export async function openProducts(groups: readonly DampedProducts[]): Promise<ProductsSession> {
  const [only, ...others] = groups;
  const size = only?.size ?? 0;
  const inputs = others.length === 0 ? only?.inputs : undefined;
  const session = await openSession(inputs === undefined ? productModel() : factorModel(), CAPTURE_SESSION);
  const feedsOf = inputs === undefined ? openFeeds(groups, size) : () => factorsOf(inputs, size, only?.damping ?? 0);
  return {
    multiplierOf(first, count) {
      const feeds = feedsOf(first, count);
      return async rows => {
        const x = makeTensor('float32', [count, rows.length / count / size, size], rows);
        const { y } = await session.run({ ...feeds, x });
        return y?.data as Float32Array;
      };
    },
    close: session.close,
  };
}

/** H + λI of groups. */
function openFeeds(groups: readonly DampedProducts[], size: number) {
  const all = new Float32Array(groups.length * size * size);
  for (const [group, { data, damping }] of groups.entries()) {
    const start = group * size * size;
    all.set(data, start);
    for (let i = 0; i < size; i++) all[start + i * size + i] = (all[start + i * size + i] as number) + damping;
  }
  return (first: number, count: number): Readonly<Record<string, Tensor>> => ({
    h: makeTensor('float32', [count, size, size], all.subarray(first * size * size, (first + count) * size * size)),
  });
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
  model.graph.outputs = [add('MatMul', [input('x', ['groups', 'rows', 'columns']), input('h', ['groups', 'columns', 'columns'])], 'y')];
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
