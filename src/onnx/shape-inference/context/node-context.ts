/** The context of an operator's inference function: the node, known facts about its inputs, and the opset. */
import type { DType } from '../../../tensor/dtype.js';
import type { Constant, Dim, Graph, Node } from '../../ir/model.js';
import { OnnxError } from '../../ir/onnx-error.js';

/** Known facts about a tensor. `elements`: the elements of an integer scalar or vector, each as a number, the name of a dim, or undefined. */
export interface Known {
  readonly dtype: DType | undefined;
  readonly dims: readonly Dim[] | undefined;
  readonly elements?: readonly Dim[] | undefined;
}

export interface NodeContext {
  readonly node: Node;
  /** The name of the node in messages. */
  readonly label: string;
  /** The imported version of the node's domain. */
  readonly opset: number;
  /** Whether input `index` is connected. */
  has(index: number): boolean;
  dtype(index: number): DType | undefined;
  dims(index: number): readonly Dim[] | undefined;
  /** The elements of an integer scalar or vector. */
  elements(index: number): readonly Dim[] | undefined;
  constant(index: number): Constant | undefined;
  /** The input's name and shape, for messages. */
  describe(index: number): string;
  /** Infers a subgraph with the given facts about its inputs. 'dtypes': declared dims in the subgraph are ignored because they hold for one iteration only. */
  inferSubgraph(graph: Graph, inputs: readonly (Known | undefined)[], stated?: 'types' | 'dtypes'): readonly (Known | undefined)[];
}

/** One entry per output, in order; undefined if nothing is known. @throws OnnxError `shape-mismatch` if the inputs contradict each other. */
export type InferFunction = (context: NodeContext) => readonly (Known | undefined)[];

export type InferTable = Readonly<Record<string, InferFunction>>;

export function known(dtype: DType | undefined, dims: readonly Dim[] | undefined, elements?: readonly Dim[] | undefined): Known {
  return { dtype, dims, elements };
}

export function formatDims(dims: readonly Dim[] | undefined): string {
  return dims === undefined ? '[…]' : `[${dims.map(dim => dim ?? '?').join(', ')}]`;
}

/** 'Conv "backbone/conv3"', the name of a node in messages; a node without a name is identified by its first output. */
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
