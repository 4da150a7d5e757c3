/** The problems that the model checker reports, and their wording. */
import type { Graph, Node, ValueId } from '../ir/model.js';

export type ModelProblemCode =
  /** Two values of a graph, or a value and one of an outer graph, have the same name. */
  | 'duplicate-name'
  | 'empty-name'
  /** A node or graph output uses a value that no node, input or initializer defines. */
  | 'undefined-value'
  /** A node reads an output of a later node. */
  | 'node-order'
  | 'cycle'
  | 'no-outputs'
  /** A value is listed twice among a graph's inputs or outputs. */
  | 'repeated-end'
  /** An input of the model has no type. */
  | 'untyped-input'
  /** A value has two producers, has a producer although it is an input or initializer, or names a node that does not produce it. */
  | 'producer'
  | 'no-operator'
  /** The model does not import the domain of a node. */
  | 'opset-missing'
  /** An attribute has no type, or refers to an attribute of a function outside a function. */
  | 'attribute'
  /** The number of bytes or elements of a constant does not match its dtype and shape. */
  | 'constant-size'
  /** The type of a value contradicts its constant. */
  | 'constant-type'
  /** A sparse initializer, quantization annotation or function cannot be decoded. */
  | 'malformed-field'
  /** The domain has no such operator. */
  | 'unknown-operator'
  /** The operator needs a later operator set than the model imports. */
  | 'operator-too-new'
  /** The operator was removed before the operator set that the model imports. */
  | 'operator-deprecated'
  /** A node has more or fewer inputs or outputs than its operator allows. */
  | 'input-count'
  | 'output-count'
  /** A required input or output is absent before others. */
  | 'missing-input'
  | 'missing-output'
  | 'missing-attribute'
  | 'unknown-attribute'
  | 'attribute-kind'
  /** The operator does not allow the type of an input or output. */
  | 'input-type'
  | 'output-type'
  /** Two values that must have the same type have different types. */
  | 'type-conflict'
  /** Two functions have the same name, or functions call each other in a cycle. */
  | 'duplicate-function'
  | 'function-cycle';

export interface ModelProblem {
  readonly code: ModelProblemCode;
  /** Names the graph, the node with its operator, and the value. */
  readonly message: string;
  readonly help?: string;
}

/** Reports a problem. `help` is called for the first problems only, because a malicious file may have very many. */
export type Report = (code: ModelProblemCode, message: string, help?: () => string | undefined) => void;

/** 'Conv "conv1"'; a node without a name is identified by its first output. */
export function describe(graph: Graph, node: Node): string {
  const output = node.outputs.find(id => id !== undefined);
  const name = node.name !== '' || output === undefined ? node.name : (graph.values.get(output)?.name ?? '');
  return `${node.opType === '' ? 'node' : node.opType} "${name}"`;
}

export function nameOf(graph: Graph, id: ValueId): string {
  const value = graph.values.get(id);
  return value === undefined ? `value ${id} of an outer graph` : `"${value.name}"`;
}
