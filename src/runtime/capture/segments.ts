/** Cuts a graph into consecutive segments whose intermediate tensors stay under a byte budget. */
import { getDefined } from '../../base/invariant.js';
import { subgraphsOf } from '../../onnx/ir/edit.js';
import type { Dim, Graph, Model, Node, Value, ValueId, ValueType } from '../../onnx/ir/model.js';
import { byteLength, type DType } from '../../tensor/dtype.js';

/** Consecutive nodes in graph order, and the values that cross the border. */
export interface Segment {
  readonly nodes: readonly Node[];
  /** Values from earlier segments or from the caller, without constants. */
  readonly reads: readonly ValueId[];
  /** Every value that the nodes compute, in graph order. */
  readonly computes: readonly ValueId[];
}

export interface SegmentOptions {
  /** Budget in bytes for the values that one segment computes. A single node may exceed it. */
  readonly budgetBytes: number;
  /** The size assumed for a dimension that the model leaves free, such as the number of RoIs. */
  readonly freeDim: number;
}

/** Largest number of nodes with unknown output sizes in a segment, so that it cannot grow without bound. */
const MAX_NODES = 64;

/** Cuts `graph`, whose nodes must be in topological order. The cuts do not change what a node computes. */
export function cutSegments(graph: Graph, { budgetBytes, freeDim }: SegmentOptions): Segment[] {
  const segments: Segment[] = [];
  let nodes: Node[] = [];
  let bytes = 0;
  const close = (): void => {
    if (nodes.length > 0) segments.push(makeSegment(graph, nodes));
    [nodes, bytes] = [[], 0];
  };
  for (const node of graph.nodes.values()) {
    const size = outputsOf(node).reduce((sum, id) => sum + sizeOf(graph.values.get(id), freeDim), 0);
    if (bytes + size > budgetBytes || nodes.length >= MAX_NODES) close();
    nodes.push(node);
    bytes += size;
  }
  close();
  return segments;
}

/** The segment of `nodes`, which must be in topological order. */
export function makeSegment(graph: Graph, nodes: readonly Node[]): Segment {
  const computes = nodes.flatMap(outputsOf);
  const own = new Set(computes);
  const reads = new Set<ValueId>();
  for (const id of nodes.flatMap(node => [...readsOf(node)])) {
    if (!own.has(id) && graph.values.get(id)?.constant === undefined && graph.values.has(id)) reads.add(id);
  }
  return { nodes, reads: [...reads], computes };
}

/** Inputs of `node`, and values of the enclosing graph that its sub-graphs use. */
export function* readsOf(node: Node): Generator<ValueId> {
  for (const input of node.inputs) if (input !== undefined) yield input;
  for (const sub of subgraphsOf(node)) {
    yield* sub.outputs;
    for (const inner of sub.nodes.values()) yield* readsOf(inner);
  }
}

function outputsOf(node: Node): ValueId[] {
  return node.outputs.filter(output => output !== undefined);
}

function sizeOf(value: Value | undefined, freeDim: number): number {
  const type = value?.type;
  if (type?.kind !== 'tensor' || type.dims === undefined) return 0;
  const count = type.dims.reduce<number>((product: number, dim: Dim) => product * (typeof dim === 'number' ? dim : freeDim), 1);
  return byteLength(type.dtype ?? 'float32', count);
}

/** Dtype and shape of a value that is given to a segment. */
export interface GivenType {
  readonly dtype: DType;
  readonly dims: readonly number[];
}

/** Removes declared sizes: they hold only for the declared batch, and inputs may differ. */
function withoutSizes(value: Value): Value {
  const { type } = value;
  return type?.kind === 'tensor' && value.constant === undefined ? { ...value, type: { ...type, dims: undefined } } : value;
}

/**
 * The segment as a separate model. Its inputs are the values that it reads, its outputs those that it computes. Sizes stay free, except those of the roi,
 * scales and sizes inputs of Resize: ONNX Runtime counts their elements when it loads a model, and takes a free size for an absent input.
 * The model shares nodes, constants and ids with `model` and may only be written, not edited.
 */
export function segmentModel(model: Model, segment: Segment, typeOf: (id: ValueId) => GivenType): Model {
  const { graph } = model;
  const values = new Map<ValueId, Value>();
  const counted = new Set(segment.nodes.flatMap(node => (node.opType === 'Resize' ? node.inputs.slice(1) : [])));
  for (const id of segment.reads) {
    const { dtype, dims } = typeOf(id);
    const type: ValueType = { kind: 'tensor', dtype, dims: counted.has(id) ? dims : dims.map(() => undefined) };
    values.set(id, { ...getDefined(graph.values.get(id), 'value'), producer: undefined, type });
  }
  for (const id of segment.nodes.flatMap(node => [...readsOf(node), ...outputsOf(node)])) {
    const value = graph.values.get(id);
    if (value !== undefined && !values.has(id)) values.set(id, counted.has(id) ? value : withoutSizes(value));
  }
  const nodes = new Map(segment.nodes.map(node => [node.id, node]));
  const piece: Graph = { ...graph, nodes, values, inputs: [...segment.reads], outputs: [...segment.computes], unknown: [] };
  return { ...model, graph: piece };
}
