/** Exclusions and overrides go by the names that the float model has: other tools rename Gemm to MatMul first, and then miss them. */

import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { tensor } from '../../../src/onnx/ir/attribute.js';
import { addNode, addValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { addressValues } from '../../../src/quant/calibration/value-address.js';
import { quantizeModel } from '../../../src/quant/quantize-model.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { EMPTY_SKETCH, type Sketch, sketchTensor } from '../../../src/quant/sketch/sketch.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { nodeLines, smallGraph, valueNamed } from '../quant/small-graph.js';

/** A Gemm whose weight comes from a Constant node, which quantization makes an initializer; and a Relu, which it leaves out. */
function network(): Model {
  const small = smallGraph();
  small.input('x', [1, 2]);
  const { model } = small;
  const weight = addValue(model, model.graph, 'Gemm_0.weight', { type: { kind: 'tensor', dtype: 'float32', dims: [2, 2] } });
  const value = encodeRawTensor(makeTensor('float32', [2, 2], Float32Array.from([1, 2, 3, 4])));
  addNode(model, model.graph, {
    opType: 'Constant',
    name: 'Constant_0',
    inputs: [],
    outputs: [weight.id],
    attributes: { value: tensor(value) },
  });
  small.node('Gemm x Gemm_0.weight -> a').name = 'Gemm_0';
  small.node('Relu a -> r').name = 'Relu_0';
  small.node('Gemm r Gemm_0.weight -> y').name = 'Gemm_1';
  small.output('y');
  return model;
}

function quantize(options: Partial<Parameters<typeof quantizeModel>[3]>): { lines: string[]; report: ReturnType<typeof quantizeModel> } {
  const model = network();
  const sketch: Sketch = { ...EMPTY_SKETCH, ...sketchTensor(Float32Array.from([0, 1])) };
  const values = new Map([...addressValues(model).values()].map(address => [address, { name: '', sketch }]));
  const digest = digestModelContent(model);
  const report = quantizeModel(
    model,
    digest,
    { model: digest, samples: 1, values },
    { scheme: PRESETS.u8s8, exclude: [], domain: 'ai.onnx', ...options },
  );
  return { lines: nodeLines(model), report };
}

describe('names of the float model', () => {
  it('exclude a node by its name and operator in the float model', () => {
    for (const exclude of [['Gemm_0'], [{ op: 'Gemm', output: 'a' }]]) {
      const { lines, report } = quantize({ exclude });
      expect(report.inFloat).toEqual([{ node: 'Gemm_0', opType: 'Gemm', reason: 'excluded' }, expect.objectContaining({ node: 'Relu_0' })]);
      expect(lines.some(line => /^Gemm\(x, Gemm_0\.weight(_DequantizeLinear_Output)?\) -> a$/.test(line))).toBe(true);
    }
  });

  it('exclude a node that quantization would leave out', () => {
    expect(quantize({}).report.counts).toMatchObject({ removedActivationFunctions: 1 });
    const { lines } = quantize({ exclude: ['Relu_0'] });
    expect(lines).toContain('Relu(a_DequantizeLinear_Output) -> r');
  });

  it('override a weight that a Constant node holds', () => {
    const { report } = quantize({ overrides: [{ tensor: 'Gemm_0.weight', set: { dtype: 'uint8', symmetric: false } }] });
    expect(report.weights).toEqual([expect.objectContaining({ name: 'Gemm_0.weight', dtype: 'uint8' })]);
  });

  it('the model keeps its names', () => {
    const model = network();
    expect(valueNamed(model, 'Gemm_0.weight').producer).toBeDefined();
    expect(quantize({}).lines.at(-1)).toBe('DequantizeLinear(y_QuantizeLinear_Output, y_scale, y_zero_point) -> y');
  });
});
