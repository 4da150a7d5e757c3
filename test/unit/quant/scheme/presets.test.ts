/** Presets against the integers, scales and zero points in the quantized file. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { findPosition } from '../../../../src/quant/integers/power-of-two.js';
import { planQuantization } from '../../../../src/quant/placement/plan-quantization.js';
import { insertQdq } from '../../../../src/quant/qdq/insert-qdq.js';
import { PRESETS, type PresetName } from '../../../../src/quant/scheme/scheme.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { decodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { nodeLines, rangesOf, smallGraph, valueNamed } from '../small-graph.js';

/** Every kind of tensor: data movement first, weights with and without zeros, a constant operand, Relu and Clip, Softmax. */
function everyKind(): Model {
  const small = smallGraph();
  small.input('x', [1, 2, 4, 4]);
  small.floats(
    'w',
    [2, 2, 3, 3],
    Array.from({ length: 36 }, (_, i) => Math.cos(i) * 0.3),
  );
  small.floats('dead', [2, 2, 1, 1], [0, 0, 0, 0]);
  small.floats('b', [2], [0.7, -0.01]);
  small.floats('shift', [1, 2, 1, 1], [0.1, 3]);
  small.floats('six', [], [6]);
  small.floats('zero', [], [0]);
  small.node('MaxPool x -> m', { kernel_shape: ints([2, 2]), strides: ints([1, 1]), pads: ints([0, 0, 1, 1]) });
  small.node('Conv m w b -> a', { pads: ints([1, 1, 1, 1]) });
  small.node('Relu a -> r');
  small.node('Conv r dead -> d');
  small.node('Add d shift -> s');
  small.node('Clip s zero six -> c');
  small.node('Softmax c -> y', { axis: int(1) });
  small.output('y', 'd');
  return small.model;
}

function quantized(preset: PresetName): Model {
  const model = everyKind();
  const observations = rangesOf(
    model,
    { low: -1.3, high: 1.7 },
    { r: { low: 0, high: 1.7 }, c: { low: 0, high: 4 }, d: { low: 0, high: 0 } },
  );
  insertQdq(
    model,
    planQuantization(model.graph, { scheme: PRESETS[preset], observations, excluded: new Set() }),
    PRESETS[preset].qdqDomain,
  );
  return model;
}

/** [integer type, scale, zero point] of each pair, and of each constant before a DQ. */
function parametersOf(model: Model): { readonly of: string; readonly dtype: string; readonly scale: number; readonly zeroPoint: number }[] {
  const numberOf = (name: string): number => {
    const { constant } = valueNamed(model, name);
    if (constant === undefined || !('bytes' in constant)) throw new Error(`${name} is a constant`);
    return Number((decodeRawTensor(constant).data as ArrayLike<number>)[0]);
  };
  return [...model.graph.nodes.values()]
    .filter(({ opType }) => opType === 'DequantizeLinear')
    .map(({ inputs }) => {
      const [integers = '', scale = '', zeroPoint = ''] = inputs.map(id =>
        id === undefined ? '' : (model.graph.values.get(id)?.name ?? ''),
      );
      const dtype = valueNamed(model, zeroPoint).constant?.dtype ?? '';
      return { of: integers, dtype, scale: numberOf(scale), zeroPoint: numberOf(zeroPoint) };
    });
}

describe('presets', () => {
  it.each<[PresetName, string, string, string]>([
    ['u8s8', 'uint8', 'int8', 'int32'],
    ['s8s8', 'int8', 'int8', 'int32'],
    ['u8u8', 'uint8', 'uint8', 'int32'],
    ['a8w8', 'int8', 'int8', 'int32'],
    ['a16w8', 'int16', 'int8', 'int32'],
    ['xint8', 'uint8', 'int8', 'int8'],
    ['xint8-2', 'int8', 'int8', 'int8'],
    ['u8s8-per-channel', 'uint8', 'int8', 'int32'],
    ['s8s8-per-channel', 'int8', 'int8', 'int32'],
    ['s8s8-aaws', 'int8', 'int8', 'int32'],
    ['a8w8-per-channel', 'int8', 'int8', 'int32'],
    ['a8w8-2', 'int8', 'int8', 'int32'],
    ['a16w8-per-channel', 'int16', 'int8', 'int32'],
    ['a16w8-2', 'int16', 'int8', 'int32'],
  ])('%s: activations %s, weights %s, biases %s; ONNX Runtime runs it', async (preset, activation, weight, bias) => {
    const model = quantized(preset);
    const parameters = parametersOf(model);
    const dtypeOf = (prefix: string) => parameters.find(({ of }) => of.startsWith(prefix))?.dtype;
    expect([dtypeOf('m_'), dtypeOf('w_'), dtypeOf('b_')]).toEqual([activation, weight, bias]);
    const session = await openSession(encodeModel(model), { optimization: 'all' });
    const x = makeTensor(
      'float32',
      [1, 2, 4, 4],
      Float32Array.from({ length: 32 }, (_, i) => Math.sin(i)),
    );
    const { y } = await session.run({ x });
    await session.close();
    expect([...(y?.data as Float32Array)].every(Number.isFinite)).toBe(true);
  });

  it.each<PresetName>(['a8w8', 'a16w8'])('%s is symmetric: every zero point is 0', preset => {
    expect(new Set(parametersOf(quantized(preset)).map(({ zeroPoint }) => zeroPoint))).toEqual(new Set([0]));
  });

  it('xint8: every scale is a power of two, uint8 has zero point 128 and int8 0, also for all-zero tensors', () => {
    const parameters = parametersOf(quantized('xint8'));
    expect(parameters.length).toBeGreaterThan(9);
    for (const { of, dtype, scale, zeroPoint } of parameters) {
      expect([of, findPosition(scale)]).toEqual([of, expect.any(Number)]);
      expect([of, zeroPoint]).toEqual([of, dtype === 'uint8' ? 128 : 0]);
    }
  });

  it('NPU presets: no Q and DQ between Conv and Relu, Add and Clip; data movement before the first Conv is quantized', () => {
    const lines = nodeLines(quantized('xint8'));
    expect(lines.filter(line => /^(Relu|Clip)/.test(line))).toEqual(['Relu(a) -> r', 'Clip(s, zero, six) -> c']);
    expect(lines).toContain('MaxPool(x_DequantizeLinear_Output) -> m');
    expect(nodeLines(quantized('u8s8')).find(line => line.startsWith('MaxPool'))).toBe('MaxPool(x) -> m');
  });

  it('a16w8 uses the contrib domain, because opset 17 has no 16-bit integers', () => {
    const domains = [...quantized('a16w8').graph.nodes.values()]
      .filter(({ opType }) => opType.endsWith('Linear'))
      .map(({ domain }) => domain);
    expect(new Set(domains)).toEqual(new Set(['com.microsoft']));
  });
});
