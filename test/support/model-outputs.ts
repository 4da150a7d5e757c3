/** How does a test see an inner value? As one more output of the model. */
import { getDefined } from '../../src/base/invariant.js';
import { findValueByName } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';

export function addOutputByName({ graph }: Model, name: string): void {
  graph.outputs.push(getDefined(findValueByName(graph, name), name).id);
}
