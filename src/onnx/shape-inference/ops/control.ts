/** Which shapes come out of If and Loop? Those on which the branches, or the iterations, agree. */
import type { Dim, Graph } from '../../ir/model.js';
import { unknownDims } from '../dims.js';
import { type InferFunction, type InferTable, type Known, known, type NodeContext } from '../node-context.js';

function getGraph(c: NodeContext, name: string): Graph | undefined {
  const attribute = c.node.attributes.get(name);
  return attribute?.kind === 'graph' ? attribute.value : undefined;
}

const branch: InferFunction = c => {
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

/** A carried value keeps its type and loses its sizes, for an iteration may change them; a scanned one gets an axis in front. */
const loop: InferFunction = c => {
  const body = getGraph(c, 'body');
  if (body === undefined) return [];
  const carried = c.node.inputs.slice(2).map((_, index) => {
    const dims = c.dims(index + 2);
    return known(c.dtype(index + 2), dims && unknownDims(dims.length));
  });
  const results = c.inferSubgraph(body, [known('int64', []), known('bool', []), ...carried]).slice(1);
  return c.node.outputs.map((_, index) => {
    const result = results[index];
    if (index < carried.length) return agree(carried[index], result);
    return result && known(result.dtype, result.dims && [undefined, ...result.dims]);
  });
};

export const CONTROL: InferTable = { If: branch, Loop: loop };
