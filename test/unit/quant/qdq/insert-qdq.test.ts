/** Placement of Q and DQ, operator by operator. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model, NodeId } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import type { Range } from '../../../../src/quant/integers/qparams.js';
import { planQuantization, type QuantizationPlan } from '../../../../src/quant/placement/plan-quantization.js';
import { insertQdq } from '../../../../src/quant/qdq/insert-qdq.js';
import { PRESETS, type QuantizationScheme } from '../../../../src/quant/scheme/scheme.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { convGraph, nodeLines, rangesOf, smallGraph, valueNamed } from '../small-graph.js';

const UNIT: Range = { low: -1, high: 1 };

function plan(
  model: Model,
  options: { scheme?: QuantizationScheme; excluded?: readonly NodeId[]; ranges?: Record<string, Range> } = {},
): QuantizationPlan {
  return planQuantization(model.graph, {
    scheme: options.scheme ?? PRESETS.u8s8,
    observations: rangesOf(model, UNIT, options.ranges),
    excluded: new Set(options.excluded ?? []),
  });
}

describe('placement', () => {
  it('Conv: activations get Q and DQ, weight and bias a DQ, the output keeps its name', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.output('y');
    insertQdq(small.model, plan(small.model), 'ai.onnx');
    expect(nodeLines(small.model)).toEqual([
      'QuantizeLinear(x, x_scale, x_zero_point) -> x_QuantizeLinear_Output',
      'DequantizeLinear(x_QuantizeLinear_Output, x_scale, x_zero_point) -> x_DequantizeLinear_Output',
      'DequantizeLinear(b_quantized, b_quantized_scale, b_quantized_zero_point) -> b_DequantizeLinear_Output',
      'DequantizeLinear(w_quantized, w_scale, w_zero_point) -> w_DequantizeLinear_Output',
      'Conv(x_DequantizeLinear_Output, w_DequantizeLinear_Output, b_DequantizeLinear_Output) -> y_QuantizeLinear_Input',
      'QuantizeLinear(y_QuantizeLinear_Input, y_scale, y_zero_point) -> y_QuantizeLinear_Output',
      'DequantizeLinear(y_QuantizeLinear_Output, y_scale, y_zero_point) -> y',
    ]);
    expect(small.model.graph.outputs).toEqual([valueNamed(small.model, 'y').id]);
    expect([...small.model.graph.values.values()].map(value => value.name)).not.toContain('w');
  });

  it('a Relu after a Conv is removed if the range saturates at 0, and stays in symmetric schemes', () => {
    const build = () => {
      const small = convGraph();
      small.node('Conv x w b -> y');
      small.node('Relu y -> z');
      small.output('z');
      return small.model;
    };
    const asymmetric = build();
    insertQdq(asymmetric, plan(asymmetric, { ranges: { z: { low: 0, high: 1 } } }), 'ai.onnx');
    expect(nodeLines(asymmetric).some(line => line.startsWith('Relu'))).toBe(false);
    expect(valueNamed(asymmetric, 'z_zero_point').constant).toMatchObject({ dtype: 'uint8', bytes: Uint8Array.from([0]) });
    const symmetric = build();
    const scheme = { ...PRESETS.a8w8, placement: PRESETS.u8s8.placement };
    const planned = plan(symmetric, { scheme, ranges: { z: { low: 0, high: 0.5 } } });
    insertQdq(symmetric, planned, 'ai.onnx');
    expect(nodeLines(symmetric).some(line => line.startsWith('Relu'))).toBe(true);
    // The input of a Relu takes the range of its output.
    expect(planned.activations.map(({ range }) => range)).toEqual([UNIT, { low: 0, high: 0.5 }, { low: 0, high: 0.5 }]);
  });

  it('a Relu whose input has other readers is kept', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.node('Relu y -> z');
    small.node('Add y z -> s');
    small.output('s');
    expect(plan(small.model).removals).toEqual([]);
  });

  it('a Clip whose bounds exclude zero is kept', () => {
    const small = convGraph();
    small.floats('low', [], [0.25]);
    small.floats('high', [], [6]);
    small.node('Conv x w b -> y');
    small.node('Clip y low high -> z');
    small.output('z');
    expect(plan(small.model, { ranges: { z: { low: 0.25, high: 6 } } }).removals).toEqual([]);
  });

  it.each([
    ['MaxPool', 'MaxPool y -> z', { kernel_shape: ints([1, 1]), strides: ints([2, 2]) }],
    ['Slice', 'Slice y starts ends axes steps -> z', {}],
    ['the depthwise Conv of ones', 'Conv y ones -> z', { strides: ints([2, 2]), group: int(1) }],
    ['Reshape', 'Reshape y axes -> z', {}],
    ['Transpose', 'Transpose y -> z', {}],
    ['Resize', 'Resize y _ scales -> z', {}],
    ['Split', 'Split y -> z z2', {}],
    ['AveragePool', 'AveragePool y -> z', { kernel_shape: ints([1, 1]) }],
  ])('%s takes scale and zero point of its input', (_what, line, attributes) => {
    const small = convGraph();
    small.ints('starts', [0, 0]);
    small.ints('ends', [2, 2]);
    small.ints('axes', [2, 3]);
    small.ints('steps', [2, 2]);
    small.floats('scales', [4], [1, 1, 2, 2]);
    small.floats('ones', [1, 1, 1, 1], [1]);
    small.node('Conv x w b -> y');
    const node = small.node(line, attributes);
    small.output('z');
    const planned = plan(small.model, { ranges: { z: { low: -0.25, high: 0.125 } } });
    const [y, z] = ['y', 'z'].map(name => planned.activations.find(({ value }) => value === valueNamed(small.model, name).id));
    expect(z?.qparams).toEqual(y?.qparams);
    expect(z?.sharedWith).toBe(y?.value);
    expect(planned.kept.has(node.id)).toBe(false);
  });

  it('a depthwise Conv with another weight has its own range', () => {
    const small = convGraph();
    small.floats('ones', [1, 1, 1, 1], [1.5]);
    small.node('Conv x w b -> y');
    small.node('Conv y ones -> z', { group: int(1) });
    small.output('z');
    expect(plan(small.model).activations.map(({ sharedWith }) => sharedWith)).toEqual([undefined, undefined, undefined]);
  });

  it.each(['integers', 'pair'] as const)('a constant that is an output too stays there as it is: %s', async weights => {
    const small = convGraph();
    small.floats('k', [1, 1, 1, 1], [0.3]);
    small.node('Conv x w b -> y');
    small.node('Add y k -> z');
    small.output('z', 'k', 'w');
    const planned = plan(small.model);
    insertQdq(small.model, { ...planned, scheme: { ...planned.scheme, placement: { ...planned.scheme.placement, weights } } }, 'ai.onnx');
    const session = await openSession(encodeModel(small.model), { optimization: 'disabled' });
    const { k, w } = await session.run({ x: makeTensor('float32', [1, 1, 2, 2], new Float32Array(4)) });
    await session.close();
    expect([k?.data, w?.data]).toEqual([Float32Array.of(0.3), Float32Array.of(0.5)]);
  });

  it('a bias shared by nodes with different input scales gets integers for each', () => {
    const small = convGraph();
    small.input('x2', [1, 1, 2, 2]);
    small.node('Conv x w b -> y');
    small.node('Conv x2 w b -> y2');
    small.output('y', 'y2');
    const planned = plan(small.model, { ranges: { x2: { low: -4, high: 4 } } });
    expect(planned.weights).toHaveLength(1);
    expect(planned.biases).toHaveLength(2);
    insertQdq(small.model, planned, 'ai.onnx');
    expect(nodeLines(small.model).filter(line => line.startsWith('Conv'))).toEqual([
      'Conv(x_DequantizeLinear_Output, w_DequantizeLinear_Output, b_DequantizeLinear_Output) -> y_QuantizeLinear_Input',
      'Conv(x2_DequantizeLinear_Output, w_DequantizeLinear_Output, b_DequantizeLinear_Output_1) -> y2_QuantizeLinear_Input',
    ]);
  });

  it('per-channel: the axis is the output channel of each kind of weight', () => {
    const small = smallGraph();
    small.input('x', [1, 2, 2, 2]);
    small.floats('w', [3, 2, 1, 1], [1, 2, 3, 4, 5, 6]);
    small.floats('wt', [3, 2, 1, 1], [1, 2, 3, 4, 5, 6]);
    small.floats('b', [3], [1, 2, 3]);
    small.floats('g', [2, 8], Array(16).fill(1));
    small.ints('flat', [1, 8]);
    small.node('Conv x w b -> y');
    small.node('ConvTranspose y wt -> t');
    small.node('Reshape t flat -> f');
    small.node('Gemm f g -> z', { transB: int(1) });
    small.output('z');
    const scheme = { ...PRESETS.u8s8, weight: { ...PRESETS.u8s8.weight, perChannel: true } };
    const planned = plan(small.model, { scheme });
    expect(planned.weights.map(({ qparams }) => [qparams.axis, qparams.slices.length])).toEqual([
      [0, 3],
      [1, 2],
      [0, 2],
    ]);
    expect(planned.biases.map(({ scales }) => scales.length)).toEqual([3]);
    expect(() => insertQdq(small.model, planned, 'ai.onnx')).not.toThrow();
  });

  it('an excluded node computes in float between quantized neighbors', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    const middle = small.node('Conv y w b -> z');
    small.node('Sigmoid z -> s');
    small.output('s');
    const planned = plan(small.model, { excluded: [middle.id] });
    expect([...planned.kept]).toEqual([[middle.id, 'excluded']]);
    insertQdq(small.model, planned, 'ai.onnx');
    expect(nodeLines(small.model)).toContain('Conv(y_DequantizeLinear_Output, w_DequantizeLinear_Output, b) -> z');
  });

  it('a graph without quantizable nodes is an error with the reasons', () => {
    const small = smallGraph();
    small.input('x', [2]);
    small.node('Erf x -> y');
    small.output('y');
    expect(() => plan(small.model)).toThrow(expect.objectContaining({ code: 'nothing-to-quantize' }));
  });

  it.each([
    [12, { ...PRESETS.u8s8, weight: { ...PRESETS.u8s8.weight, perChannel: true } }],
    [20, { ...PRESETS.u8s8, activation: { ...PRESETS.u8s8.activation, dtype: 'int16', symmetric: true } }],
    [20, { ...PRESETS.xint8, bias: { dtype: 'int16', scale: 'power-of-two' } }],
  ] as const)('opset %p cannot say what the plan needs, the contrib domain can', (opset, scheme) => {
    const build = () => {
      const small = smallGraph(opset);
      small.input('x', [1, 1, 2, 2]);
      small.floats('w', [2, 1, 1, 1], [0.5, 1]);
      small.floats('b', [2], [0.5, 1]);
      small.node('Conv x w b -> y');
      small.output('y');
      return small.model;
    };
    const model = build();
    expect(() => insertQdq(model, plan(model, { scheme }), 'ai.onnx')).toThrow(expect.objectContaining({ code: 'opset-too-old' }));
    expect(nodeLines(model)).toEqual(nodeLines(build()));
    insertQdq(model, plan(model, { scheme }), 'com.microsoft');
    expect(model.opsets.get('com.microsoft')).toBe(1);
  });

  it.each(['ai.onnx', 'com.microsoft'] as const)('opset 9 has no quantized operators in domain %s', domain => {
    const small = smallGraph(9);
    small.input('x', [1, 1, 2, 2]);
    small.floats('w', [1, 1, 1, 1], [0.5]);
    small.node('Conv x w -> y');
    small.output('y');
    expect(() => insertQdq(small.model, plan(small.model), domain)).toThrow(expect.objectContaining({ code: 'opset-too-old' }));
  });

  it('the weight scale grows if the bias does not fit into int32', () => {
    const small = smallGraph();
    small.input('x', [1, 1, 2, 2]);
    small.floats('w', [1, 1, 1, 1], [1e-9]);
    small.floats('b', [1], [1e3]);
    small.node('Conv x w b -> y');
    small.output('y');
    const planned = plan(small.model);
    expect(planned.weights[0]?.widened).toBe(true);
    expect(planned.biases[0]?.saturated).toBe(0);
    const scale = planned.biases[0]?.scales[0] ?? 0;
    expect(1e3 / scale).toBeLessThan(2 ** 31);
    expect(1e3 / scale).toBeGreaterThan(2 ** 31 * 0.999);
  });
});
