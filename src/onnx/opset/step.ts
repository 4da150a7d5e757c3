/** The type of a conversion step between adjacent operator sets, and the graph edits that steps use. */

import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { addInitializer, addNode, indexUses, type NewNode, removeValue, setInput } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import type { NameScope } from '../ir/name-scope.js';
import { findConstantOf } from '../shape-inference/context/constant-node.js';
import type { KnownTypes } from '../shape-inference/infer-shapes.js';

export interface StepPlace {
  readonly model: Model;
  /** The graph that owns `node`: the model's, or one inside it. */
  readonly graph: Graph;
  readonly node: Node;
  /** Types inferred under the original operator set of the model. */
  readonly types: KnownTypes;
  readonly names: NameScope;
}

/** Edits the node; returns the reason, with the node unchanged, if there is no exact conversion. */
export type Step = (place: StepPlace) => string | undefined;

/** A step that no node of the operator can take. */
export const reject =
  (reason: string): Step =>
  () =>
    reason;

/** A vector of int64 as a new initializer. */
export function addIntegers(place: StepPlace, what: string, values: readonly (number | bigint)[]): ValueId {
  return addConstant(place, what, encodeRawTensor(makeTensor('int64', [values.length], BigInt64Array.from(values, BigInt))));
}

export function addConstant({ model, graph, node, names }: StepPlace, what: string, constant: RawTensor): ValueId {
  const output = node.outputs.find(id => id !== undefined);
  const label = output === undefined ? node.opType : (graph.values.get(output)?.name ?? node.opType);
  return addInitializer(model, graph, names.take(`${label}_${what}`), constant).id;
}

/** Adds a node with one new output before the node being converted. */
export function addBefore(
  { model, graph, node, names }: StepPlace,
  spec: Pick<NewNode, 'opType' | 'inputs' | 'attributes' | 'name'>,
): ValueId {
  const output = node.outputs.find(id => id !== undefined);
  const label = output === undefined ? node.opType : (graph.values.get(output)?.name ?? node.opType);
  const made = addNode(model, graph, { ...spec, outputs: [names.take(`${label}_${spec.opType}`)], before: node.id });
  return made.outputs[0] as ValueId;
}

/** Sets input `index` to `value`. */
export function connect({ node }: StepPlace, index: number, value: ValueId): void {
  setInput(node, index, value);
}

/** The constant at input `index`: an initializer of the same graph, or the output of a Constant node in it. */
export function constantAt({ graph, node }: StepPlace, index: number): Constant | undefined {
  const id = node.inputs[index];
  const value = id === undefined ? undefined : graph.values.get(id);
  if (value?.constant !== undefined) return value.constant;
  const producer = value?.producer === undefined ? undefined : graph.nodes.get(value.producer);
  return producer && findConstantOf(producer);
}

export function rankOf({ node, types }: StepPlace, index = 0): number | undefined {
  const id = node.inputs[index];
  return id === undefined ? undefined : types.get(id)?.dims?.length;
}

/** Whether output `index` is connected. It counts even if nothing reads it: an operator computes all connected outputs. */
export function hasOutput({ node }: StepPlace, index: number): boolean {
  return node.outputs[index] !== undefined;
}

/** Disconnects output `index` if nothing reads it. @returns whether the output is now absent. */
export function dropUnread({ graph, node }: StepPlace, index: number): boolean {
  const output = node.outputs[index];
  if (output === undefined) return true;
  if (graph.outputs.includes(output) || indexUses(graph).has(output)) return false;
  node.outputs[index] = undefined;
  while (node.outputs.length > 1 && node.outputs.at(-1) === undefined) node.outputs.pop();
  removeValue(graph, output);
  return true;
}
