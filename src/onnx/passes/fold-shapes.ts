/** The pass that replaces small integer tensors whose elements shape inference knows by constants. */
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { getNode, removeNode } from '../ir/edit.js';
import type { Constant, Graph } from '../ir/model.js';
import { scopesOf } from '../ir/scope.js';
import { isStatic } from '../shape-inference/context/dims.js';
import type { Known } from '../shape-inference/context/node-context.js';
import type { KnownTypes } from '../shape-inference/infer-shapes.js';
import type { Pass } from './pass.js';

/** Exact: the Shape of a static tensor, and results of Gather, Concat, Slice and arithmetic on it, do not depend on the data. */
export const foldShapes: Pass = {
  name: 'fold-shapes',
  proof: 'exact',
  proofText: 'An integer tensor that follows from static shapes alone is a constant.',
  async run(model, { infer }) {
    const { types } = infer(model);
    return { changed: [...scopesOf(model)].flatMap(({ graph }) => foldKnown(graph, types)), declined: [] };
  },
};

function foldKnown(graph: Graph, types: KnownTypes): string[] {
  const changed: string[] = [];
  for (const value of graph.values.values()) {
    const constant = toConstant(types.get(value.id));
    if (constant === undefined || value.producer === undefined) continue;
    const producer = getNode(graph, value.producer);
    if (producer.outputs.length !== 1) continue;
    removeNode(graph, producer.id);
    value.constant = constant;
    value.type = { kind: 'tensor', dtype: constant.dtype, dims: constant.dims };
    changed.push(value.name);
  }
  return changed;
}

function toConstant(type: Known | undefined): Constant | undefined {
  if (type?.dims === undefined || type.dims.length > 1 || !isStatic(type.dims) || !isStatic(type.elements)) return undefined;
  if ((type.dims[0] ?? 1) !== type.elements.length || !type.elements.every(Number.isSafeInteger)) return undefined;
  switch (type.dtype) {
    case 'int64':
      return encodeRawTensor(makeTensor('int64', type.dims, BigInt64Array.from(type.elements, BigInt)));
    case 'int32':
      return encodeRawTensor(makeTensor('int32', type.dims, Int32Array.from(type.elements)));
    default:
      return undefined;
  }
}
