/** What `runner: simulate` opens: by rounding mode, by the model's scales, with warnings and errors. */
import { ints } from '../../../../src/onnx/ir/attribute.js';
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import type { Constant, Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { openSimulated } from '../../../../src/quant/simulate/open-simulated.js';
import { openPlainExecutor } from '../../../../src/quant/simulate/plain/executor.js';
import type { RoundingMode } from '../../../../src/quant/simulate/steps/rounding-mode.js';
import { addsExactly } from '../../../../src/runtime/session/integer-kernels.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { randomConstant, randomFloats, type SmallNode, smallModel } from '../../../support/small-model.js';

const dims = [1, 4, 6, 6];
const feeds = { x: randomFloats(dims, 3) };
const pads = { pads: ints([1, 1, 1, 1]) };

const float = smallModel({
  inputs: { x: ['float32', dims] },
  constants: { w: randomConstant([4, 4, 3, 3], 5), b: randomConstant([4], 6) },
  nodes: [
    { op: 'Conv', in: ['x', 'w', 'b'], out: ['c'], attributes: pads },
    { op: 'Relu', in: ['c'], out: ['r'] },
    { op: 'Add', in: ['r', 'x'], out: ['y'] },
  ],
  outputs: ['y'],
});

async function simulate(model: Model, rounding: RoundingMode, warnings: string[] = []): Promise<Tensor | undefined> {
  const session = await openSimulated({ arithmetic: 'integers', rounding }, message => warnings.push(message))(encodeModel(model), {
    optimization: 'all',
  });
  return Object.values(await session.run(feeds).finally(session.close))[0];
}

async function plain(model: Model, rounding: RoundingMode): Promise<Tensor | undefined> {
  const executor = openPlainExecutor(cloneModel(model), rounding);
  return Object.values(await executor.run(feeds).finally(executor.close))[0];
}

describe('openSimulated', () => {
  it.each([
    'ort',
    'pow2-dpu',
    'pow2-py3',
    'pow2-std',
    'tflite',
  ] as const)('gives the bytes of the plain executor for a model in xint8 with rounding %s', async rounding => {
    const model = await quantizeOn(float, feeds, PRESETS.xint8);
    expect(await simulate(model, rounding)).toEqual(await plain(model, rounding));
  });

  it.each(['u8s8', 's8s8'] as const)("gives the bytes of ONNX Runtime's integer kernels for float scales in %s", async preset => {
    const model = await quantizeOn(float, feeds, PRESETS[preset]);
    expect(await simulate(model, 'ort')).toEqual(await plain(model, 'ort'));
  });

  it('gives the bytes of the plain executor where some activations are int8 and others uint8, and says where that is slow', async () => {
    const zeros = { u: new Uint8Array([3]), i: new Int8Array([-3]) };
    const scalar = (value: number): Constant => encodeRawTensor(makeTensor('float32', [], new Float32Array([value])));
    const quantized = (from: string, zero: 'u' | 'i', to: string): SmallNode[] => [
      { op: 'QuantizeLinear', in: [from, 's', zero], out: [`${to}_q`] },
      { op: 'DequantizeLinear', in: [`${to}_q`, 's', zero], out: [to] },
    ];
    const weight = new Int8Array(4 * 4 * 9).map((_, index) => ((index * 89) % 255) - 127);
    const model = smallModel({
      inputs: { x: ['float32', dims] },
      constants: {
        s: scalar(0.02),
        t: scalar(0.01),
        z: encodeRawTensor(makeTensor('int8', [], new Int8Array(1))),
        u: encodeRawTensor(makeTensor('uint8', [], zeros.u)),
        i: encodeRawTensor(makeTensor('int8', [], zeros.i)),
        w: encodeRawTensor(makeTensor('int8', [4, 4, 3, 3], weight)),
        v: encodeRawTensor(makeTensor('int8', [4, 4, 3, 3], weight.toReversed())),
      },
      nodes: [
        ...quantized('x', 'u', 'a'),
        { op: 'DequantizeLinear', in: ['w', 't', 'z'], out: ['first'] },
        { op: 'Conv', in: ['a', 'first'], out: ['c'], attributes: pads },
        ...quantized('c', 'i', 'b'),
        { op: 'DequantizeLinear', in: ['v', 't', 'z'], out: ['second'] },
        { op: 'Conv', in: ['b', 'second'], out: ['d'], attributes: pads },
        ...quantized('d', 'i', 'y'),
      ],
      outputs: ['y'],
    });
    const warnings: string[] = [];
    expect(await simulate(model, 'ort', warnings)).toEqual(await plain(model, 'ort'));
    expect(warnings).toHaveLength((await addsExactly()) ? 0 : 1);
  });

  it('computes a model with float scales as TensorFlow Lite within one step of ONNX Runtime', async () => {
    const model = await quantizeOn(float, feeds, PRESETS.s8s8);
    const [tflite, ort] = [await simulate(model, 'tflite'), await simulate(model, 'ort')];
    const differences = (tflite?.data as Float32Array).map((value, index) => Math.abs(value - Number(ort?.data[index])));
    const step = Math.min(...differences.filter(difference => difference > 0));
    // Three roundings in a row, each at most one step apart.
    expect(Math.max(...differences)).toBeLessThanOrEqual(3 * (Number.isFinite(step) ? step : 0) * 1.001);
    expect(differences.filter(difference => difference > 0).length).toBeLessThan(differences.length / 20);
  });

  it('runs a float model as it is', async () => {
    const session = await openSession(encodeModel(float), { optimization: 'all' });
    const { y } = await session.run(feeds).finally(session.close);
    expect(await simulate(float, 'pow2-dpu')).toEqual(y);
  });

  it('refuses scales that are no powers of two, which the mode is for', async () => {
    const model = await quantizeOn(float, feeds, PRESETS.s8s8);
    const { code } = await failureOf(() => simulate(model, 'pow2-dpu'));
    expect(code).toBe('simulate-scales');
  });

  it('warns where float32 is not exact, and runs node by node', async () => {
    const scalar = (value: number): Constant => encodeRawTensor(makeTensor('float32', [], new Float32Array([value])));
    const zero = encodeRawTensor(makeTensor('int8', [], new Int8Array([0])));
    // The sums are read before they are rounded, and can reach 2^24 units.
    const weight = encodeRawTensor(makeTensor('int8', [4, 4, 33, 33], new Int8Array(4 * 4 * 33 * 33).fill(127)));
    const model = smallModel({
      inputs: { x: ['float32', dims] },
      constants: { s: scalar(2 ** -6), t: scalar(2 ** 6), z: zero, w: weight },
      nodes: [
        { op: 'QuantizeLinear', in: ['x', 's', 'z'], out: ['q'] },
        { op: 'DequantizeLinear', in: ['q', 's', 'z'], out: ['xf'] },
        { op: 'DequantizeLinear', in: ['w', 's', 'z'], out: ['wf'] },
        { op: 'Conv', in: ['xf', 'wf'], out: ['c'], attributes: { pads: ints([16, 16, 16, 16]) } },
        { op: 'Transpose', in: ['c'], out: ['p'], attributes: { perm: ints([0, 2, 3, 1]) } },
        { op: 'QuantizeLinear', in: ['p', 't', 'z'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const warnings: string[] = [];
    expect(await simulate(model, 'pow2-dpu', warnings)).toEqual(await plain(model, 'pow2-dpu'));
    expect(warnings).toEqual([expect.stringContaining('Conv "c": its sums can reach 2²⁴ units')]);
  });

  it('refuses control flow where it would run node by node', async () => {
    const body = smallModel({
      inputs: {},
      constants: { k: randomConstant(dims, 1) },
      nodes: [{ op: 'Identity', in: ['k'], out: ['o'] }],
      outputs: ['o'],
    });
    const scalar = (value: number): Constant => encodeRawTensor(makeTensor('float32', [], new Float32Array([value])));
    const model = smallModel({
      inputs: { x: ['float32', dims] },
      constants: {
        s: scalar(2 ** -6),
        z: encodeRawTensor(makeTensor('int8', [], new Int8Array([0]))),
        yes: encodeRawTensor(makeTensor('bool', [], new Uint8Array([1]))),
      },
      nodes: [
        { op: 'QuantizeLinear', in: ['x', 's', 'z'], out: ['q'] },
        { op: 'DequantizeLinear', in: ['q', 's', 'z'], out: ['xf'] },
        {
          op: 'If',
          in: ['yes'],
          out: ['i'],
          attributes: { then_branch: { kind: 'graph', value: body.graph }, else_branch: { kind: 'graph', value: cloneModel(body).graph } },
        },
        { op: 'Add', in: ['xf', 'i'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const { code } = await failureOf(() => plain(model, 'tflite'));
    expect(code).toBe('simulate-subgraph');
  });
});
