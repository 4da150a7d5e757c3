/** Whether ONNX Runtime's integer kernels add products exactly on this processor: those for x86-64 without VNNI add two products in 16 bits, which saturate. */
import ort from 'onnxruntime-node';
import { addInitializer, addInput, addNode, makeModel } from '../../onnx/ir/edit.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';

/** Rows of the weight, enough for blocks of any kernel. */
const DEPTH = 64;
const COLUMNS = 16;

let known: Promise<boolean> | undefined;

/** Multiplies the largest activations by the largest weights, once per process. */
export function addsExactly(): Promise<boolean> {
  known ??= multiplyLargest();
  return known;
}

async function multiplyLargest(): Promise<boolean> {
  const model = makeModel({ opset: 17, graphName: 'largest' });
  const { graph } = model;
  const input = addInput(model, graph, 'given', { kind: 'tensor', dtype: 'uint8', dims: [1, DEPTH] }).id;
  const weight = makeTensor('int8', [DEPTH, COLUMNS], new Int8Array(DEPTH * COLUMNS).fill(127));
  const inputs = [input, addInitializer(model, graph, 'weight', encodeRawTensor(weight)).id];
  for (const id of addNode(model, graph, { opType: 'MatMulInteger', name: 'product', inputs, outputs: ['sums'] }).outputs) {
    if (id === undefined) continue;
    const value = graph.values.get(id);
    if (value !== undefined) value.type = { kind: 'tensor', dtype: 'int32', dims: [1, COLUMNS] };
    graph.outputs.push(id);
  }
  // Not by `openSession`, whose options depend on the answer.
  const session = await ort.InferenceSession.create(encodeModel(model), {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
  });
  try {
    const given = new ort.Tensor('uint8', new Uint8Array(DEPTH).fill(255), [1, DEPTH]);
    const { sums } = await session.run({ given });
    return Array.from((sums?.data ?? []) as Int32Array).every(sum => sum === DEPTH * 255 * 127);
  } finally {
    await session.release();
  }
}
