/** Makes the input size of a backbone symbolic. Upsampling then doubles sizes, which is equal where all sizes are multiples of 32. */
import { getDefined } from '../../../../base/invariant.js';
import { addInitializer, findValueByName, getValue, removeValue, setInput } from '../../../../onnx/ir/edit.js';
import type { Model } from '../../../../onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../../onnx/shape-inference/infer-shapes.js';
import { encodeRawTensor } from '../../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../../tensor/tensor.js';
import { PYRAMID_LEVELS } from './network-spec.js';

/** Sizes must be multiples of this, so that every pyramid level halves without remainder. */
export const FREE_SIZE_STEP = 4 * 2 ** (PYRAMID_LEVELS - 1);

/** Makes height and width of the input `image` of `model` symbolic, and infers all shapes again. Changes `model` in place. */
export function freeImageSize(model: Model): void {
  const { graph } = model;
  const image = getDefined(findValueByName(graph, 'image'), 'the input image');
  image.type = { kind: 'tensor', dtype: 'float32', dims: [1, 3, 'height', 'width'] };
  const twice = encodeRawTensor(makeTensor('float32', [4], Float32Array.of(1, 1, 2, 2)));
  const scales = addInitializer(model, graph, 'backbone.fpn.upsample.scales', twice);
  for (const node of graph.nodes.values()) {
    if (node.opType !== 'Resize') continue;
    const sizes = getDefined(node.inputs[3], 'the sizes of a Resize');
    setInput(node, 2, scales.id);
    node.inputs = node.inputs.slice(0, 3);
    removeValue(graph, sizes);
  }
  for (const node of graph.nodes.values())
    for (const output of node.outputs) if (output !== undefined) getValue(graph, output).type = undefined;
  writeTypes(model, inferShapes(model, { stated: 'ignore' }));
}
