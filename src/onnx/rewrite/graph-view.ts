/** What do rules see of a graph? Who reads each value, what is constant, and what inference knows: a snapshot between two patches. */
import { getValue, indexUses } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import { findConstantOf } from '../shape-inference/constant-node.js';
import { type Inference, type InferOptions, startInference } from '../shape-inference/infer-shapes.js';
import type { Known } from '../shape-inference/node-context.js';

export interface GraphView {
  readonly model: Model;
  readonly graph: Graph;
  readonly inference: Inference;
  producerOf(value: ValueId): Node | undefined;
  constantOf(value: ValueId | undefined): Constant | undefined;
  useCount(value: ValueId): number;
  /** The node that alone reads a value, once, which is no output of the graph; undefined where there is another reader, or only a sub-graph's. */
  soleReader(value: ValueId): Node | undefined;
  typeOf(value: ValueId): Known;
  nameOf(value: ValueId): string;
}

/** A view of the main graph of `model`. */
export function viewModel(model: Model, options: InferOptions = {}): GraphView {
  return refreshView(model, startInference(model, options));
}

/** A new snapshot after an edit that kept all inferred types right. */
export function refreshView(model: Model, inference: Inference): GraphView {
  const { graph } = model;
  const uses = indexUses(graph);
  const outputs = new Map<ValueId, number>();
  for (const output of graph.outputs) outputs.set(output, (outputs.get(output) ?? 0) + 1);
  const producerOf = (value: ValueId): Node | undefined => {
    const producer = graph.values.get(value)?.producer;
    return producer === undefined ? undefined : graph.nodes.get(producer);
  };
  const soleReader = (value: ValueId): Node | undefined => {
    const [use, ...others] = uses.get(value) ?? [];
    return use === undefined || use.index < 0 || others.length > 0 || outputs.has(value) ? undefined : use.node;
  };
  return {
    model,
    graph,
    inference,
    producerOf,
    soleReader,
    constantOf: value => findConstantValue(model, value),
    useCount: value => (uses.get(value)?.length ?? 0) + (outputs.get(value) ?? 0),
    typeOf: value => inference.types.get(value) ?? { dtype: undefined, dims: undefined },
    nameOf: value => getValue(graph, value).name,
  };
}

/** The constant that a value of the main graph always is: an initializer that no caller can override, or a Constant node's output. */
export function findConstantValue(model: Model, id: ValueId | undefined): Constant | undefined {
  const { graph } = model;
  const value = id === undefined ? undefined : graph.values.get(id);
  if (value === undefined) return undefined;
  if (value.constant !== undefined) return model.irVersion >= 4 && graph.inputs.includes(value.id) ? undefined : value.constant;
  const producer = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
  return producer && findConstantOf(producer);
}
