/** The weights of a layer, fitted to what the float network computes, and how well they do on positions that did not make them. */
import { addInput, addNode, makeModel } from '../../../onnx/ir/edit.js';
import type { ValueId } from '../../../onnx/ir/model.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { openSession } from '../../../runtime/session/session.js';
import { makeTensor } from '../../../tensor/tensor.js';
import type { DampedProducts } from './damped-products.js';
import { type FittedRows, fitRows } from './fit-rows.js';
import type { JudgedPositions } from './layer-sums.js';
import { openProducts } from './products-session.js';
import { cutRows } from './row-blocks.js';
import { TWO_THREADS } from './two-threads.js';

/** Most weights that are fitted together: the fit has six arrays of them. */
const MOST_FITTED = 1 << 21;

export interface FitLayer {
  /** Of all groups, row after row. */
  readonly weights: Float32Array;
  /** Σ x·y per row. */
  readonly targets: readonly Float32Array[];
  /** Per group. */
  readonly products: readonly DampedProducts[];
}

/** @throws RuntimeError `model-run`. */
export async function fitLayer({ weights, targets, products }: FitLayer): Promise<FittedRows> {
  const columns = products[0]?.size ?? 0;
  const fitted = { wanted: new Float32Array(weights.length), rest: new Float32Array(weights.length) };
  const session = await openProducts(products.map(({ sums }) => sums));
  try {
    for (const { first, groups, start, rows } of cutRows({ groups: products.length, rows: targets.length, columns }, MOST_FITTED)) {
      const dampings = products.slice(first, first + groups).map(({ damping }) => damping);
      const own = new Float32Array(rows * columns);
      for (let row = 0; row < rows; row++) own.set(targets[start + row] as Float32Array, row * columns);
      const request = {
        weights: weights.subarray(start * columns, (start + rows) * columns),
        targets: own,
        dampings: Array.from({ length: rows }, (_, row) => dampings[Math.floor((row * groups) / rows)] as number),
        columns,
      };
      const { wanted, rest } = await fitRows(request, session.multiplierOf(first, dampings));
      fitted.wanted.set(wanted, start * columns);
      fitted.rest.set(rest, start * columns);
    }
  } finally {
    await session.close();
  }
  return fitted;
}

/** Σ (y − w·x)² over the positions, by ONNX Runtime in float32. @throws RuntimeError `model-run`. */
export async function judgeRows(weights: Float32Array, { groups, columns, positions, inputs, outputs }: JudgedPositions): Promise<number> {
  const session = await openSession(errorModel(), TWO_THREADS);
  try {
    const rows = weights.length / groups / columns;
    const { error } = await session.run({
      w: makeTensor('float32', [groups, rows, columns], weights),
      x: makeTensor('float32', [groups, columns, positions], inputs),
      y: makeTensor('float32', [groups, rows, positions], outputs),
    });
    return (error?.data as Float32Array).reduce((sum, one) => sum + one * one, 0);
  } finally {
    await session.close();
  }
}

function errorModel(): Uint8Array {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'error' });
  const input = (name: string, dims: readonly string[]): ValueId =>
    addInput(model, model.graph, name, { kind: 'tensor', dtype: 'float32', dims }).id;
  const add = (opType: string, inputs: readonly ValueId[], output: string): ValueId =>
    addNode(model, model.graph, { opType, name: output, inputs, outputs: [output] }).outputs[0] as ValueId;
  const computed = add('MatMul', [input('w', ['groups', 'rows', 'columns']), input('x', ['groups', 'columns', 'positions'])], 'computed');
  model.graph.outputs = [add('Sub', [computed, input('y', ['groups', 'rows', 'positions'])], 'error')];
  return encodeModel(model);
}
