/** What can be wrong with a model, and how is it said? */
import type { Graph, Node, ValueId } from '../ir/model.js';

export type ModelProblemCode =
  /** The same name for two values of a graph, or for a value and one of an enclosing graph. */
  | 'duplicate-name'
  | 'empty-name'
  /** A node or graph output uses a value that no node, input or initializer defines. */
  | 'undefined-value'
  /** A node reads what only a later node makes. */
  | 'node-order'
  | 'cycle'
  | 'no-outputs'
  /** A value is listed twice among a graph's inputs or outputs. */
  | 'repeated-end'
  /** A graph input of the whole model has no type. */
  | 'untyped-input'
  /** A value is made by two nodes, or by a node though it is an input or initializer, or its producer does not make it. */
  | 'producer'
  | 'no-operator'
  /** The domain of a node's operator is not among the model's operator sets. */
  | 'opset-missing'
  /** An attribute whose type is not stated, or that refers to a function's attribute outside of one. */
  | 'attribute'
  /** A constant's bytes or elements are not as many as its dtype and shape say. */
  | 'constant-size'
  /** A value's type contradicts its constant. */
  | 'constant-type'
  /** A sparse initializer, quantization annotation or function is no message of its type. */
  | 'malformed-field'
  /** The domain has no such operator. */
  | 'unknown-operator'
  /** The operator comes with a later operator set than the model imports. */
  | 'operator-too-new'
  /** The operator is gone in the operator set that the model imports. */
  | 'operator-deprecated'
  /** A node has more or fewer inputs, or outputs, than its operator. */
  | 'input-count'
  | 'output-count'
  /** An input, or output, that is not optional is left out before others. */
  | 'missing-input'
  | 'missing-output'
  | 'missing-attribute'
  | 'unknown-attribute'
  | 'attribute-kind'
  /** A type that the operator does not take, or give, there. */
  | 'input-type'
  | 'output-type'
  /** Two values that have to be of one type are of two. */
  | 'type-conflict'
  /** Two functions of one name, or functions that call each other in a circle. */
  | 'duplicate-function'
  | 'function-cycle';

export interface ModelProblem {
  readonly code: ModelProblemCode;
  /** Names graph, node (with operator) and value. */
  readonly message: string;
  readonly help?: string;
}

/** `help` is asked for the first problems alone: there may be as many as a hostile file has room for. */
export type Report = (code: ModelProblemCode, message: string, help?: () => string | undefined) => void;

/** 'Conv "conv1"'; a node without a name is called by its first output. */
export function describe(graph: Graph, node: Node): string {
  const output = node.outputs.find(id => id !== undefined);
  const name = node.name !== '' || output === undefined ? node.name : (graph.values.get(output)?.name ?? '');
  return `${node.opType === '' ? 'node' : node.opType} "${name}"`;
}

export function nameOf(graph: Graph, id: ValueId): string {
  const value = graph.values.get(id);
  return value === undefined ? `value ${id} of an enclosing graph` : `"${value.name}"`;
}
