/** Products of rows with the input products of their groups, by ONNX Runtime in float32. */
import { addInput, addNode, makeModel } from '../../../onnx/ir/edit.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { CAPTURE_SESSION } from '../../../runtime/capture/capture.js';
import { openSession } from '../../../runtime/session/session.js';
import { makeTensor } from '../../../tensor/tensor.js';
import type { Multiply } from './round-adaptively.js';
import type { SquareMatrix } from './triangular-factor.js';

export interface ProductsSession {
  readonly multiply: Multiply;
  close(): Promise<void>;
}

/** @param products one matrix per group, with both triangles. @param rows of each group. @throws RuntimeError `model-load`. */
export async function openProducts(products: readonly SquareMatrix[], rows: number): Promise<ProductsSession> {
  const size = products[0]?.size ?? 0;
  const all = new Float32Array(products.length * size * size);
  for (const [group, { data }] of products.entries()) all.set(data, group * size * size);
  const h = makeTensor('float32', [products.length, size, size], all);
  const x = makeTensor('float32', [products.length, rows, size], new Float32Array(products.length * rows * size));
  const session = await openSession(productModel(x.dims, h.dims), CAPTURE_SESSION);
  return {
    async multiply(values) {
      x.data.set(values);
      const { y } = await session.run({ x, h });
      return (y?.data ?? []) as ArrayLike<number>;
    },
    close: session.close,
  };
}

function productModel(x: readonly number[], h: readonly number[]): Uint8Array {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'products' });
  const inputs = [
    addInput(model, model.graph, 'x', { kind: 'tensor', dtype: 'float32', dims: x }).id,
    addInput(model, model.graph, 'h', { kind: 'tensor', dtype: 'float32', dims: h }).id,
  ];
  model.graph.outputs = [...addNode(model, model.graph, { opType: 'MatMul', name: 'y', inputs, outputs: ['y'] }).outputs].flatMap(
    id => id ?? [],
  );
  return encodeModel(model);
}
