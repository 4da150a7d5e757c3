/** Makes inner values of a model outputs, so that a test sees them. */
import { getDefined } from '../../src/base/invariant.js';
import { findValueByName } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';

export function addOutputByName({ graph }: Model, name: string): void {
  graph.outputs.push(getDefined(findValueByName(graph, name), name).id);
}
