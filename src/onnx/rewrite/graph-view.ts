/** A snapshot of a graph for rules: readers and producers of values, constants, and inferred types. */
import { getDefined } from '../../base/invariant.js';
import { indexUses } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import { findOwner, findVisibleValue, mainScope, type Scope } from '../ir/scope.js';
import { findConstantOf } from '../shape-inference/context/constant-node.js';
import type { Known } from '../shape-inference/context/node-context.js';
import { type Inference, type InferOptions, startInference } from '../shape-inference/infer-shapes.js';
import type { SeenRange } from './match.js';

export type SeenRanges = ReadonlyMap<ValueId, SeenRange>;

export interface GraphView {
  readonly scope: Scope;
  readonly model: Model;
  readonly graph: Graph;
  readonly inference: Inference;
  /** The node of this graph that produces the value; undefined for values of outer graphs. */
  producerOf(value: ValueId): Node | undefined;
  constantOf(value: ValueId | undefined): Constant | undefined;
  /** Number of reads of the value in this graph and its subgraphs; an output of the graph counts as one. */
  useCount(value: ValueId): number;
  /** The only reader of a value, if it reads it once; undefined if the value is an output of the graph, has other readers, or is read inside a subgraph. */
  soleReader(value: ValueId): Node | undefined;
  typeOf(value: ValueId): Known;
  nameOf(value: ValueId): string;
  /** Ranges on calibration samples, for rules that read them. */
  readonly ranges: SeenRanges | undefined;
  rangeOf(value: ValueId): SeenRange | undefined;
}

/** A view of the main graph of `model`. */
export function viewModel(model: Model, options: InferOptions = {}, ranges?: SeenRanges): GraphView {
  return viewScope(mainScope(model), startInference(model, options), ranges);
}

/** A snapshot of one graph; `inference` holds its current types. */
export function viewScope(scope: Scope, inference: Inference, ranges?: SeenRanges): GraphView {
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
    const isOuterOrOutput = !graph.values.has(value) || outputs.has(value);
    return use === undefined || use.index < 0 || others.length > 0 || isOuterOrOutput ? undefined : use.node;
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
    ranges,
    rangeOf: value => ranges?.get(value),
    nameOf: value => getDefined(findVisibleValue(scope, value), `value ${value}`).name,
  };
}

/** The constant that a value of the main graph always equals. */
export function findConstantValue(model: Model, id: ValueId | undefined): Constant | undefined {
  return findConstantIn(mainScope(model), id);
}

/** The constant that a value of this graph or of an outer one always equals: an initializer that no caller can override, or the output of a Constant node. */
export function findConstantIn(scope: Scope, id: ValueId | undefined): Constant | undefined {
  const owner = id === undefined ? undefined : findOwner(scope, id);
  const value = id === undefined ? undefined : owner?.graph.values.get(id);
  if (owner === undefined || value === undefined) return undefined;
  if (value.constant !== undefined) return canBeOverridden(owner, value.id) ? undefined : value.constant;
  const producer = value.producer === undefined ? undefined : owner.graph.nodes.get(value.producer);
  return producer && findConstantOf(producer);
}

/** From IR version 4, a caller may override an initializer that is also a graph input; the inputs of a subgraph are always supplied. */
function canBeOverridden({ model, graph, outer }: Scope, id: ValueId): boolean {
  return (outer !== undefined || model.irVersion >= 4) && graph.inputs.includes(id);
}
