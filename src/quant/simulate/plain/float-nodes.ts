/** Runs single nodes in ONNX Runtime, without graph optimization: what the integer arithmetic does not define. */
import { addInitializer, addInput, addNode, makeModel, subgraphsOf } from '../../../onnx/ir/edit.js';
import type { Model, Node, NodeId } from '../../../onnx/ir/model.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { openSession, type Session } from '../../../runtime/session/session.js';
import type { Tensor } from '../../../tensor/tensor.js';
import { QuantError } from '../../integers/quant-error.js';

export interface FloatNodes {
  /** Outputs in the node's order. `inputs` has an entry per input that is not constant. @throws RuntimeError; QuantError `simulate-subgraph`. */
  run(node: Node, inputs: readonly (Tensor | undefined)[]): Promise<readonly (Tensor | undefined)[]>;
  close(): Promise<void>;
}

export function openFloatNodes(model: Model): FloatNodes {
  const sessions = new Map<NodeId, Promise<Session>>();
  return {
    async run(node, inputs) {
      const open = sessions.get(node.id) ?? openSession(encodeModel(singleNode(model, node, inputs)), { optimization: 'disabled' });
      sessions.set(node.id, open);
      const session = await open;
      const feeds = inputs.flatMap((tensor, index) => (tensor === undefined ? [] : [[`i${index}`, tensor] as const]));
      const results = await session.run(Object.fromEntries(feeds));
      return node.outputs.map((id, index) => (id === undefined ? undefined : results[`o${index}`]));
    },
    async close() {
      for (const session of sessions.values()) await (await session).close();
      sessions.clear();
    },
  };
}

function singleNode(whole: Model, node: Node, inputs: readonly (Tensor | undefined)[]): Model {
  if (subgraphsOf(node).length > 0) {
    throw new QuantError('simulate-subgraph', `${node.opType} "${node.name}" has a subgraph, which the simulation does not run`, {
      help: 'remove control flow from the model with `simplify`, or compare on the CPU',
    });
  }
  const model = makeModel({ opset: 17, irVersion: whole.irVersion, graphName: 'node' });
  model.opsets.clear();
  for (const [domain, version] of whole.opsets) model.opsets.set(domain, version);
  const { graph } = model;
  const ids = node.inputs.map((id, index) => {
    if (id === undefined) return undefined;
    const tensor = inputs[index];
    const constant = whole.graph.values.get(id)?.constant;
    if (tensor !== undefined) return addInput(model, graph, `i${index}`, { kind: 'tensor', dtype: tensor.dtype, dims: undefined }).id;
    return constant === undefined ? undefined : addInitializer(model, graph, `i${index}`, constant).id;
  });
  const added = addNode(model, graph, {
    opType: node.opType,
    domain: node.domain,
    inputs: ids,
    outputs: node.outputs.map((id, index) => (id === undefined ? undefined : `o${index}`)),
    attributes: node.attributes,
  });
  graph.outputs = added.outputs.filter(id => id !== undefined);
  return model;
}
