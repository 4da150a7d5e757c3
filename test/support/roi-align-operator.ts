/** RoIAlign of ONNX Runtime, as a model of that one node: the oracle of our kernel. */
import { getDefined } from '../../src/base/invariant.js';
import { type Boxes, countBoxes } from '../../src/detection/geometry/boxes.js';
import type { FeatureMap, RoiAlignOptions } from '../../src/detection/geometry/roi-align.js';
import { int, string } from '../../src/onnx/ir/attribute.js';
import { addInput, addNode, getValue, makeModel } from '../../src/onnx/ir/edit.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { openSession, type Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { makeTensor } from '../../src/tensor/tensor.js';

export interface RoiAlignSession {
  /** float32 [boxes, channels, size, size] */
  pool(map: FeatureMap, boxes: Boxes): Promise<Float32Array>;
  close(): Promise<void>;
}

/** @see ONNX operator RoiAlign, opset 16; `output_half_pixel` is torchvision's `aligned=False`. */
export async function openRoiAlign(align: RoiAlignOptions, options: SessionOptions): Promise<RoiAlignSession> {
  const session = await openSession(makeRoiAlignModel(align), options);
  return { pool: (map, boxes) => poolWith(session, map, boxes), close: () => session.close() };
}

async function poolWith(session: Session, { data, channels, height, width, scale }: FeatureMap, boxes: Boxes): Promise<Float32Array> {
  const count = countBoxes(boxes);
  const { pooled } = await session.run({
    map: makeTensor('float32', [1, channels, height, width], data),
    // Scaled here, as the operator would in float32: one model serves every level.
    boxes: makeTensor(
      'float32',
      [count, 4],
      boxes.map(side => side * Math.fround(scale)),
    ),
    images: makeTensor('int64', [count], new BigInt64Array(count)),
  });
  const tensor = getDefined(pooled, 'the output of RoiAlign');
  return tensor.dtype === 'float32' ? tensor.data : new Float32Array(0);
}

function makeRoiAlignModel({ size, samplingRatio }: RoiAlignOptions): Uint8Array {
  const model = makeModel({ opset: 17, graphName: 'roi_align' });
  const { graph } = model;
  const inputs = [
    addInput(model, graph, 'map', { kind: 'tensor', dtype: 'float32', dims: [1, 'channels', 'height', 'width'] }),
    addInput(model, graph, 'boxes', { kind: 'tensor', dtype: 'float32', dims: ['rois', 4] }),
    addInput(model, graph, 'images', { kind: 'tensor', dtype: 'int64', dims: ['rois'] }),
  ];
  const node = addNode(model, graph, {
    opType: 'RoiAlign',
    inputs: inputs.map(input => input.id),
    outputs: ['pooled'],
    attributes: {
      output_height: int(size),
      output_width: int(size),
      sampling_ratio: int(samplingRatio),
      coordinate_transformation_mode: string('output_half_pixel'),
    },
  });
  const pooled = getValue(graph, getDefined(node.outputs[0], 'the output of RoiAlign'));
  pooled.type = { kind: 'tensor', dtype: 'float32', dims: ['rois', 'channels', size, size] };
  graph.outputs.push(pooled.id);
  return encodeModel(model);
}
