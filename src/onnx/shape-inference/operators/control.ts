/** Shape inference of If, Loop and Scan: the types on which branches or iterations agree. */
import { findInts, getInt } from '../../ir/attribute.js';
import type { Dim, Graph } from '../../ir/model.js';
import { unknownDims } from '../context/dims.js';
import { type InferFunction, type InferTable, type Known, known, type NodeContext } from '../context/node-context.js';

function getGraph(c: NodeContext, name: string): Graph | undefined {
  const attribute = c.node.attributes.get(name);
  return attribute?.kind === 'graph' ? attribute.value : undefined;
}

/** If the condition is known, only its branch counts. */
const branch: InferFunction = c => {
  const condition = c.elements(0)?.[0];
  const taken = condition === undefined ? undefined : getGraph(c, condition === 0 ? 'else_branch' : 'then_branch');
  if (taken !== undefined) return c.inferSubgraph(taken, []);
  const branches = ['then_branch', 'else_branch'].map(name => {
    const graph = getGraph(c, name);
    return graph === undefined ? [] : c.inferSubgraph(graph, []);
  });
  return c.node.outputs.map((_, index) => agree(branches[0]?.[index], branches[1]?.[index]));
};

function agree(a: Known | undefined, b: Known | undefined): Known | undefined {
  if (a === undefined || b === undefined) return undefined;
  const dims = a.dims === undefined || b.dims === undefined || a.dims.length !== b.dims.length ? undefined : agreeDims(a.dims, b.dims);
  return known(a.dtype === b.dtype ? a.dtype : undefined, dims);
}

function agreeDims(a: readonly Dim[], b: readonly Dim[]): readonly Dim[] {
  return a.map((dim, axis) => (dim === b[axis] ? dim : undefined));
}

/** Scan outputs get an additional first axis. */
const loop: InferFunction = c => {
  const body = getGraph(c, 'body');
  if (body === undefined) return [];
  const count = c.node.inputs.length - 2;
  const given = Array.from({ length: count }, (_, index) => known(c.dtype(index + 2), c.dims(index + 2)));
  const { carried, results } = settle(given, (values, stated) =>
    c.inferSubgraph(body, [known('int64', []), known('bool', []), ...values], stated).slice(1),
  );
  return c.node.outputs.map((_, index) => {
    if (index < count) return carried[index];
    const result = results[index];
    return result && known(result.dtype, result.dims && [undefined, ...result.dims]);
  });
};

type Run = (values: readonly Known[], stated?: 'dtypes') => readonly (Known | undefined)[];

interface Settled {
  readonly carried: readonly (Known | undefined)[];
  readonly results: readonly (Known | undefined)[];
}

/**
 * Infers loop-carried values: dims are kept if the body does not change them. Otherwise they are unknown, and if the body changes the rank, so is the rank.
 * Declared dims in the body then hold for one iteration only and are ignored.
 */
function settle(given: readonly Known[], run: Run): Settled {
  const first = run(given);
  const keeps = given.every(
    ({ dims }, index) => dims !== undefined && agree(given[index], first[index])?.dims?.every((dim, axis) => dim === dims[axis]),
  );
  if (keeps) return { carried: given, results: first };
  const unknown = given.map(({ dtype, dims }) => known(dtype, dims && unknownDims(dims.length)));
  const settled = settleAs(unknown, run);
  const keepsRanks = unknown.every(({ dims }, index) => dims === undefined || settled.carried[index]?.dims !== undefined);
  return keepsRanks
    ? settled
    : settleAs(
        given.map(({ dtype }) => known(dtype, undefined)),
        run,
      );
}

function settleAs(values: readonly Known[], run: Run): Settled {
  const results = run(values, 'dtypes');
  return { carried: values.map((value, index) => agree(value, results[index])), results };
}

/** State inputs, followed by scan inputs, which are consumed one element at a time along an axis. (ONNX Scan, opset 9; before, it had a batch axis and lengths.) */
const scan: InferFunction = c => {
  const body = getGraph(c, 'body');
  if (body === undefined || c.opset < 9) return [];
  const scanned = getInt(c.node, 'num_scan_inputs', 0);
  const states = c.node.inputs.length - scanned;
  const axisOf = (name: string, index: number, rank: number): number => {
    const axis = findInts(c.node, name)?.[index] ?? 0;
    return axis < 0 ? axis + rank : axis;
  };
  let length: Dim;
  const elements = Array.from({ length: scanned }, (_, index) => {
    const dims = c.dims(states + index);
    const axis = axisOf('scan_input_axes', index, dims?.length ?? 0);
    if (dims !== undefined && typeof length !== 'number') length = dims[axis];
    return known(
      c.dtype(states + index),
      dims?.filter((_dim, at) => at !== axis),
    );
  });
  const given = Array.from({ length: states }, (_, index) => known(c.dtype(index), c.dims(index)));
  const { carried, results } = settle(given, (values, stated) => c.inferSubgraph(body, [...values, ...elements], stated));
  return c.node.outputs.map((_, index) => {
    if (index < states) return carried[index];
    const result = results[index];
    if (result?.dims === undefined) return result && known(result.dtype, undefined);
    const axis = axisOf('scan_output_axes', index - states, result.dims.length + 1);
    return known(result.dtype, [...result.dims.slice(0, axis), length, ...result.dims.slice(axis)]);
  });
};

export const CONTROL: InferTable = { If: branch, Loop: loop, Scan: scan };
