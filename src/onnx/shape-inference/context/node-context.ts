/** What may the inference function of one operator see? Its node, what is known of its inputs, and the opset; nothing else of the graph. */
import type { DType } from '../../../tensor/dtype.js';
import type { Constant, Dim, Graph, Node } from '../../ir/model.js';
import { OnnxError } from '../../ir/onnx-error.js';

/** What is known of one tensor. `elements`: of an integer scalar or vector, as far as each is known (a dim's name stands for its size). */
export interface Known {
  readonly dtype: DType | undefined;
  readonly dims: readonly Dim[] | undefined;
  readonly elements?: readonly Dim[] | undefined;
}

export interface NodeContext {
  readonly node: Node;
  /** How messages name the node. */
  readonly label: string;
  /** The version of the node's domain that the model imports. */
  readonly opset: number;
  /** Is input `index` connected? */
  has(index: number): boolean;
  dtype(index: number): DType | undefined;
  dims(index: number): readonly Dim[] | undefined;
  /** The elements of an integer input that is a scalar or a vector. */
  elements(index: number): readonly Dim[] | undefined;
  constant(index: number): Constant | undefined;
  /** The input's name and shape, for messages. */
  describe(index: number): string;
  /** Infers a sub-graph; `inputs` are what is known of its inputs. 'dtypes': the sizes that it states hold for one iteration alone. */
  inferSubgraph(graph: Graph, inputs: readonly (Known | undefined)[], stated?: 'types' | 'dtypes'): readonly (Known | undefined)[];
}

/** One entry per output, in order; undefined where nothing is known. @throws OnnxError `shape-mismatch` where the inputs cannot go together. */
export type InferFunction = (context: NodeContext) => readonly (Known | undefined)[];

export type InferTable = Readonly<Record<string, InferFunction>>;

export function known(dtype: DType | undefined, dims: readonly Dim[] | undefined, elements?: readonly Dim[] | undefined): Known {
  return { dtype, dims, elements };
}

export function formatDims(dims: readonly Dim[] | undefined): string {
  return dims === undefined ? '[…]' : `[${dims.map(dim => dim ?? '?').join(', ')}]`;
}

/** Conv "backbone/conv3": how messages name a node of `graph`; one without a name is known by its first output. */
export function describeNode(node: Node, graph?: Graph): string {
  if (node.name !== '') return `${node.opType} "${node.name}"`;
  const output = node.outputs.find(id => id !== undefined);
  const value = output === undefined ? undefined : graph?.values.get(output);
  return value === undefined ? node.opType : `${node.opType} of "${value.name}"`;
}

export function mismatch(context: NodeContext, message: string): OnnxError {
  return new OnnxError('shape-mismatch', `${context.label}: ${message}`, {
    details: { node: context.node.name, opType: context.node.opType },
  });
}
