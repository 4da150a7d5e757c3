/** A small quantized model: two convolutions and a Relu, with power-of-two scales, as AMD's XINT8 has them. */
import type { Model } from '../../src/onnx/ir/model.js';
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../src/tensor/tensor.js';
import { floats, type SmallNode, smallModel } from './small-model.js';

const CHANNELS = 2;

/** @param weights of the two convolutions, 4 int8 numbers each. @param scale of the activation between them. @param batch a size, or the name of a free one. */
export function smallQdqModel(
  weights: readonly [readonly number[], readonly number[]] = [
    [64, -32, 16, 96],
    [-80, 48, 112, 24],
  ],
  scale = 0.0625,
  batch: number | string = 1,
): Model {
  const model = smallModel({
    inputs: { x: ['float32', [batch, CHANNELS, 4, 4]] },
    constants: {
      scale: floats([], [0.0625]),
      middle_scale: floats([], [scale]),
      zero: encodeRawTensor(makeTensor('uint8', [], Uint8Array.from([128]))),
      weight_scale: floats([], [0.0078125]),
      weight_zero: encodeRawTensor(makeTensor('int8', [], Int8Array.from([0]))),
      w1: encodeRawTensor(makeTensor('int8', [CHANNELS, CHANNELS, 1, 1], Int8Array.from(weights[0]))),
      w2: encodeRawTensor(makeTensor('int8', [CHANNELS, CHANNELS, 1, 1], Int8Array.from(weights[1]))),
    },
    nodes: [
      { op: 'QuantizeLinear', in: ['x', 'scale', 'zero'], out: ['x_q'] },
      ...convolution('x_q', 'scale', 'w1', 'first'),
      { op: 'Relu', in: ['first'], out: ['relu'] },
      { op: 'QuantizeLinear', in: ['relu', 'middle_scale', 'zero'], out: ['relu_q'] },
      ...convolution('relu_q', 'middle_scale', 'w2', 'second'),
      { op: 'QuantizeLinear', in: ['second', 'scale', 'zero'], out: ['y_q'] },
      { op: 'DequantizeLinear', in: ['y_q', 'scale', 'zero'], out: ['y'] },
    ],
    outputs: ['y'],
  });
  const output = model.graph.values.get(model.graph.outputs[0] ?? (0 as never));
  if (output !== undefined) output.type = { kind: 'tensor', dtype: 'float32', dims: [batch, CHANNELS, 4, 4] };
  return model;
}

function convolution(from: string, scale: string, weight: string, to: string): SmallNode[] {
  return [
    { op: 'DequantizeLinear', in: [from, scale, 'zero'], out: [`${from}_dq`] },
    { op: 'DequantizeLinear', in: [weight, 'weight_scale', 'weight_zero'], out: [`${weight}_dq`] },
    { op: 'Conv', in: [`${from}_dq`, `${weight}_dq`], out: [to] },
  ];
}
