/** Addresses of values: digests of the subgraph that computes a value, so that renaming changes nothing. */
import { digestValues } from '../../onnx/analysis/content-digest.js';
import type { Model, ValueId } from '../../onnx/ir/model.js';

/**
 * Addresses of all inputs and computed values of the main graph, in graph order; constants have none.
 * Models with equal content digests give equal addresses to corresponding values. Two values with one address are equal by construction.
 */
export function addressValues(model: Model): ReadonlyMap<ValueId, string> {
  const digests = digestValues(model);
  const { inputs, nodes, values } = model.graph;
  const order = [...inputs.filter(id => values.get(id)?.constant === undefined), ...[...nodes.values()].flatMap(node => node.outputs)];
  return new Map(
    order.flatMap(id => {
      const digest = id === undefined ? undefined : digests.get(id);
      return id === undefined || digest === undefined ? [] : [[id, digest] as const];
    }),
  );
}
