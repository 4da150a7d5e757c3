/** What do rules see of a graph? Who reads each value, what is constant, and what inference knows: a snapshot between two patches. */
import { getDefined } from '../../base/invariant.js';
import { indexUses } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import { findOwner, findVisibleValue, mainScope, type Scope } from '../ir/scope.js';
import { findConstantOf } from '../shape-inference/context/constant-node.js';
import type { Known } from '../shape-inference/context/node-context.js';
import { type Inference, type InferOptions, startInference } from '../shape-inference/infer-shapes.js';

export interface GraphView {
  readonly scope: Scope;
  readonly model: Model;
  readonly graph: Graph;
  readonly inference: Inference;
  /** The node of this graph that makes the value; undefined for values of the graphs around it. */
  producerOf(value: ValueId): Node | undefined;
  constantOf(value: ValueId | undefined): Constant | undefined;
  /** How often this graph, and those inside it, read the value. */
  useCount(value: ValueId): number;
  /** The node that alone reads a value, once, which is no output of the graph; undefined where there is another reader, or only a sub-graph's. */
  soleReader(value: ValueId): Node | undefined;
  typeOf(value: ValueId): Known;
  nameOf(value: ValueId): string;
}

/** A view of the main graph of `model`. */
export function viewModel(model: Model, options: InferOptions = {}): GraphView {
  return viewScope(mainScope(model), startInference(model, options));
}

/** A snapshot of one graph, whose inferred types are right. */
export function viewScope(scope: Scope, inference: Inference): GraphView {
  const { model, graph } = scope;
  const uses = indexUses(graph);
  const outputs = new Map<ValueId, number>();
  for (const output of graph.outputs) outputs.set(output, (outputs.get(output) ?? 0) + 1);
  const producerOf = (value: ValueId): Node | undefined => {
    const producer = graph.values.get(value)?.producer;
    return producer === undefined ? undefined : graph.nodes.get(producer);
  };
  const soleReader = (value: ValueId): Node | undefined => {
    const [use, ...others] = uses.get(value) ?? [];
    const isElsewhere = !graph.values.has(value) || outputs.has(value);
    return use === undefined || use.index < 0 || others.length > 0 || isElsewhere ? undefined : use.node;
  };
  return {
    scope,
    model,
    graph,
    inference,
    producerOf,
    soleReader,
    constantOf: value => findConstantIn(scope, value),
    useCount: value => (uses.get(value)?.length ?? 0) + (outputs.get(value) ?? 0),
    typeOf: value => inference.types.get(value) ?? { dtype: undefined, dims: undefined },
    nameOf: value => getDefined(findVisibleValue(scope, value), `value ${value}`).name,
  };
}

/** The constant that a value of the main graph always is. */
export function findConstantValue(model: Model, id: ValueId | undefined): Constant | undefined {
  return findConstantIn(mainScope(model), id);
}

/** The constant that a value here or around always is: an initializer that no caller can override, or a Constant node's output. */
export function findConstantIn(scope: Scope, id: ValueId | undefined): Constant | undefined {
  const owner = id === undefined ? undefined : findOwner(scope, id);
  const value = id === undefined ? undefined : owner?.graph.values.get(id);
  if (owner === undefined || value === undefined) return undefined;
  if (value.constant !== undefined) return isGiven(owner, value.id) ? undefined : value.constant;
  const producer = value.producer === undefined ? undefined : owner.graph.nodes.get(value.producer);
  return producer && findConstantOf(producer);
}

/** From IR version 4 a caller may give an initializer that is an input another value; a body's inputs are always given. */
function isGiven({ model, graph, around }: Scope, id: ValueId): boolean {
  return (around !== undefined || model.irVersion >= 4) && graph.inputs.includes(id);
}
