/** Runs a model with every value of it as an output. */
import { decodeModel } from '../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { openSession } from '../../src/runtime/session/session.js';

/** The declared types and ONNX Runtime's results, by name; `nodes` is their number. */
export async function runAllValues(bytes: Uint8Array, feeds: NamedTensors) {
  const model = decodeModel(bytes);
  const { graph } = model;
  const declared = new Map([...graph.values.values()].map(value => [value.name, value.type]));
  for (const node of graph.nodes.values()) {
    const output = node.outputs[0];
    if (output !== undefined && !graph.outputs.includes(output)) graph.outputs.push(output);
  }
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  const results = await session.run(feeds);
  await session.close();
  return { declared, results, nodes: graph.nodes.size };
}
