/** The small float models that docs/onnx.md and its tests change: a pyramid of three levels as exporters write it, and a head that reads one of them. */
import type { Model } from '../../src/onnx/ir/model.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';

/** `count` numbers between −1 and 1, as text: any that are not regular. */
function numbers(count: number, seed: number): string {
  return Array.from({ length: count }, (_, i) => (((i * 37 + seed * 11) % 41) - 20) / 20).join(', ');
}

const ones = (count: number): string => Array.from({ length: count }, () => 1).join(', ');

/** Conv with BatchNormalization and Relu, a second Conv with stride 2, a MaxPool 1×1 for the last level, and an Identity. */
export function makePyramid(): Model {
  return parseModelText(`<ir_version: 8, opset_import: ["": 13], producer_name: "pytorch">
    pyramid (float[N, 3, 16, 16] image) => (float[N, 8, 16, 16] p2, float[N, 8, 8, 8] p3, float[N, 8, 4, 4] p4)
    < float[8, 3, 3, 3] stem.weight = {${numbers(216, 1)}}, float[8] norm.scale = {${numbers(8, 2)}}, float[8] norm.bias = {${numbers(8, 3)}},
      float[8] norm.mean = {${numbers(8, 4)}}, float[8] norm.var = {${ones(8)}}, float[8, 8, 3, 3] down.weight = {${numbers(576, 5)}} >
    {
      [stem] stem_out = Conv<pads = [1, 1, 1, 1]>(image, stem.weight)
      [norm] norm_out = BatchNormalization(stem_out, norm.scale, norm.bias, norm.mean, norm.var)
      [act] act_out = LeakyRelu<alpha = 0.1>(norm_out)
      [same] p2 = Identity(act_out)
      [down] p3 = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(p2, down.weight)
      [pool] p4 = MaxPool<kernel_shape = [1, 1], strides = [2, 2]>(p3)
    }`);
}

export function makeHead(): Model {
  return parseModelText(`<ir_version: 8, opset_import: ["": 17]>
    head (float[N, 8, 8, 8] features) => (float[N, 2, 8, 8] scores) < float[2, 8, 1, 1] class.weight = {${numbers(16, 6)}} >
    {
      [class] logits = Conv(features, class.weight)
      [sigmoid] scores = Sigmoid(logits)
    }`);
}

/** What an exporter might get wrong: a misspelt attribute, one of another kind, and values of two types. */
export function makeBroken(): Model {
  return parseModelText(`<ir_version: 8, opset_import: ["": 13]>
    broken (float[N, 8, 8, 8] p3, int64[8, 1, 1] bias) => (float[N, 8, 4, 4] p4)
    {
      [pool] pooled = MaxPool<kernel_shape = [1, 1], stride = [2, 2]>(p3)
      [act] act_out = LeakyRelu<alpha = 1>(pooled)
      [sum] p4 = Add(act_out, bias)
    }`);
}
