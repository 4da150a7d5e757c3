/** Divides a quantized model into its steps from integers to integers: each QuantizeLinear with what it needs since the ones before it. */

import { getValue } from '../../src/onnx/ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../../src/onnx/ir/model.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';

export interface QuantizedStep {
  /** The integers that it makes. */
  readonly output: string;
  /** The integers, or the model's inputs, that it reads. */
  readonly inputs: readonly string[];
  /** Of its nodes, without Q and DQ. */
  readonly opTypes: readonly string[];
  readonly model: Model;
}

/** One per QuantizeLinear of an activation, in graph order. */
export function listQuantizedSteps(model: Model): readonly QuantizedStep[] {
  return [...model.graph.nodes.values()].flatMap(node => {
    const [output] = node.outputs;
    if (node.opType !== 'QuantizeLinear' || output === undefined) return [];
    const { inputs, nodes } = walkBack(model.graph, node);
    if (inputs.length === 0) return [];
    const names = { inputs, output: getValue(model.graph, output).name };
    const opTypes = nodes.map(({ opType }) => opType).filter(opType => opType !== 'QuantizeLinear' && opType !== 'DequantizeLinear');
    return [{ ...names, opTypes, model: extractSubgraph(model, { inputs, outputs: [names.output] }) }];
  });
}

function walkBack(graph: Graph, start: Node): { readonly inputs: readonly string[]; readonly nodes: readonly Node[] } {
  const inputs = new Set<string>();
  const nodes = new Set<Node>([start]);
  for (const node of nodes) {
    for (const id of node.inputs) {
      if (id === undefined || getValue(graph, id).constant !== undefined) continue;
      const producer = producerOf(graph, id);
      if (producer === undefined || producer.opType === 'QuantizeLinear') inputs.add(getValue(graph, id).name);
      else nodes.add(producer);
    }
  }
  return { inputs: [...inputs], nodes: [...nodes] };
}

function producerOf(graph: Graph, id: ValueId): Node | undefined {
  const { producer } = getValue(graph, id);
  return producer === undefined ? undefined : graph.nodes.get(producer);
}
