/** Models whose float arithmetic rounds as a device does, held byte for byte to the plain executor. */
import * as fc from 'fast-check';
import { float, int, ints } from '../../../../src/onnx/ir/attribute.js';
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import type { Constant, Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { countRoundings } from '../../../../src/quant/simulate/count-roundings.js';
import { nudgeModel } from '../../../../src/quant/simulate/nudged-model.js';
import { openPlainExecutor } from '../../../../src/quant/simulate/plain/executor.js';
import type { ShiftMode } from '../../../../src/quant/simulate/steps/rounding-mode.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { CNN_DIMS, randomCnn } from '../../../support/random-cnn.js';
import { randomFloats, type SmallNode, smallModel } from '../../../support/small-model.js';

const MODES: readonly ShiftMode[] = ['pow2-dpu', 'pow2-py3', 'pow2-std'];

const scalar = (value: number): Constant => encodeRawTensor(makeTensor('float32', [], new Float32Array([value])));
const int8 = (dims: readonly number[], values: readonly number[]): Constant =>
  encodeRawTensor(makeTensor('int8', dims, Int8Array.from(values)));

type Tensors = Readonly<Record<string, Tensor>>;

async function runPlain(model: Model, mode: ShiftMode, feeds: Tensors): Promise<Tensors> {
  const executor = openPlainExecutor(cloneModel(model), mode);
  return executor.run(feeds).finally(executor.close);
}

async function runNudged(model: Model, mode: ShiftMode, feeds: Tensors): Promise<Tensors> {
  const nudged = nudgeModel(model, mode);
  if (nudged.kind === 'declined') throw new Error(nudged.reason);
  const session = await openSession(encodeModel(nudged.model), { optimization: 'all', quantized: 'float' });
  return session.run(feeds).finally(session.close);
}

/** x (int8, scale 2^-4) through `nodes` from "xf" to "yf", rounded to int8 with the scale 2^-4 · 2^shift. */
function quantizedOp(nodes: readonly SmallNode[], dims: readonly number[], shift: number, constants: Record<string, Constant> = {}): Model {
  return smallModel({
    inputs: { x: ['int8', dims] },
    constants: { s: scalar(2 ** -4), z: int8([], [0]), to: scalar(2 ** (shift - 4)), ...constants },
    nodes: [
      { op: 'DequantizeLinear', in: ['x', 's', 'z'], out: ['xf'] },
      ...nodes,
      { op: 'QuantizeLinear', in: ['yf', 'to', 'z'], out: ['y'] },
    ],
    outputs: ['y'],
  });
}

const everyInt8 = (dims: readonly number[]): Tensor => {
  const count = dims.reduce((product, dim) => product * dim, 1);
  return makeTensor(
    'int8',
    dims,
    Int8Array.from({ length: count }, (_, index) => index - 128),
  );
};

describe('a nudged model', () => {
  it.each(MODES)('gives the bytes of the plain executor on random networks in xint8, with %s', async mode => {
    await fc.assert(
      fc.asyncProperty(randomCnn, fc.nat(1000), async (float, seed) => {
        const feeds = { x: randomFloats(CNN_DIMS, seed + 1) };
        const model = await quantizeOn(float, feeds, PRESETS.xint8);
        const [plain, nudged] = [await runPlain(model, mode, feeds), await runNudged(model, mode, feeds)];
        expect(nudged).toEqual(plain);
      }),
      { numRuns: 6 },
    );
  });

  const sums = Array.from({ length: 17 }, (_, shift) => shift).flatMap(shift => MODES.map(mode => [shift, mode] as const));
  it.each(sums)('rounds sums around every half at a shift of %i, with %s', async (shift, mode) => {
    // x · 1 + b: 16 sums around each of several halves, up to those that saturate.
    const halves = [0, 1, 2, -1, -2, 7, -8, 63, -64, 126, 127, -127, -128, 200].map(n => (n + 0.5) * 2 ** shift);
    const biases = halves.flatMap(half => [-1, 0, 1].map(step => Math.round(half) + step));
    const dims = [1, 1, 4, 4];
    const model = smallModel({
      inputs: { x: ['int8', dims] },
      constants: {
        s: scalar(2 ** -4),
        z: int8([], [0]),
        one: int8(
          [biases.length, 1, 1, 1],
          Array.from(biases, () => 1),
        ),
        b: encodeRawTensor(makeTensor('int32', [biases.length], Int32Array.from(biases))),
        zb: encodeRawTensor(makeTensor('int32', [], new Int32Array([0]))),
        to: scalar(2 ** (shift - 8)),
        unit: scalar(2 ** -8),
      },
      nodes: [
        { op: 'DequantizeLinear', in: ['x', 's', 'z'], out: ['xf'] },
        { op: 'DequantizeLinear', in: ['one', 's', 'z'], out: ['wf'] },
        { op: 'DequantizeLinear', in: ['b', 'unit', 'zb'], out: ['bf'] },
        { op: 'Conv', in: ['xf', 'wf', 'bf'], out: ['yf'] },
        { op: 'QuantizeLinear', in: ['yf', 'to', 'z'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const x = Int8Array.from({ length: 16 }, (_, index) => index - 8);
    const { y } = await runNudged(model, mode, { x: makeTensor('int8', dims, x) });
    const [rounding, expected] = [roundings[mode], new Int8Array(biases.length * 16)];
    for (const [channel, bias] of biases.entries())
      for (let i = 0; i < 16; i++) {
        const rounded = rounding(BigInt(bias + i - 8), BigInt(shift));
        expected[channel * 16 + i] = Math.min(Math.max(Number(rounded), -128), 127);
      }
    expect(y?.data).toEqual(expected);
  });

  it.each([
    ['a LeakyRelu', [{ op: 'LeakyRelu', in: ['xf'], out: ['yf'], attributes: { alpha: float(26 / 256) } }], [1, 1, 16, 16], 2],
    [
      'a HardSigmoid',
      [{ op: 'HardSigmoid', in: ['xf'], out: ['yf'], attributes: { alpha: float(1 / 6), beta: float(0.5) } }],
      [1, 1, 16, 16],
      -3,
    ],
    ['a Clip to 0…6', [{ op: 'Clip', in: ['xf', 'zero', 'six'], out: ['yf'] }], [1, 1, 16, 16], 2],
    ['an average of 3×3', [{ op: 'AveragePool', in: ['xf'], out: ['yf'], attributes: { kernel_shape: ints([3, 3]) } }], [1, 1, 16, 16], 1],
    [
      'an average of 2×2',
      [{ op: 'AveragePool', in: ['xf'], out: ['yf'], attributes: { kernel_shape: ints([2, 2]), strides: ints([2, 2]) } }],
      [1, 1, 16, 16],
      0,
    ],
    ['an average of 7×7 planes', [{ op: 'GlobalAveragePool', in: ['xf'], out: ['yf'] }], [1, 5, 7, 7], 0],
    ['an addition', [{ op: 'Add', in: ['xf', 'xf'], out: ['yf'] }], [1, 1, 16, 16], 3],
    ['a product', [{ op: 'Mul', in: ['xf', 'xf'], out: ['yf'] }], [1, 1, 16, 16], 3],
    ['a maximum of 3×3', [{ op: 'MaxPool', in: ['xf'], out: ['yf'], attributes: { kernel_shape: ints([3, 3]) } }], [1, 1, 16, 16], 2],
    ['a concatenation', [{ op: 'Concat', in: ['xf', 'xf'], out: ['yf'], attributes: { axis: int(1) } }], [1, 1, 16, 16], 4],
    [
      'a Relu of a difference',
      [
        { op: 'Sub', in: ['xf', 'half'], out: ['d'] },
        { op: 'Relu', in: ['d'], out: ['yf'] },
      ],
      [1, 1, 16, 16],
      1,
    ],
  ] as const)('gives the bytes of the plain executor for %s', async (_, nodes, dims, shift) => {
    const own = { zero: scalar(0), six: scalar(6), q: int8([], [3]), half: scalar(0.5) };
    const model = quantizedOp(nodes, dims, shift, own);
    for (const mode of MODES) {
      const feeds = { x: everyInt8(dims) };
      expect({ mode, ...(await runNudged(model, mode, feeds)) }).toEqual({ mode, ...(await runPlain(model, mode, feeds)) });
    }
  });
});

/** A layer with the largest weights: its sums can leave float32's integers, and those of few elements stay small. */
function wideLayer(op: 'Conv' | 'Gemm' | 'MatMul', depth: number): Model {
  const weights = Array.from({ length: 3 * depth }, (_, index) => (index % 7 === 0 ? -128 : 127));
  const [xDims, wDims] =
    op === 'Conv'
      ? [
          [1, depth, 2, 2],
          [3, depth, 1, 1],
        ]
      : [[4, depth], op === 'Gemm' ? [3, depth] : [depth, 3]];
  const attributes: SmallNode['attributes'] = op === 'Gemm' ? { transB: int(1) } : {};
  return smallModel({
    inputs: { x: ['int8', xDims ?? []] },
    constants: {
      s: scalar(2 ** -4),
      z: int8([], [0]),
      w: int8(wDims ?? [], weights),
      b: int8([3], [1, -1, 100]),
      to: scalar(2 ** 4),
    },
    nodes: [
      { op: 'DequantizeLinear', in: ['x', 's', 'z'], out: ['xf'] },
      { op: 'DequantizeLinear', in: ['w', 's', 'z'], out: ['wf'] },
      { op: 'DequantizeLinear', in: ['b', 's', 'z'], out: ['bf'] },
      { op, in: op === 'MatMul' ? ['xf', 'wf'] : ['xf', 'wf', 'bf'], out: ['c'], attributes },
      { op: 'Relu', in: ['c'], out: ['yf'] },
      { op: 'QuantizeLinear', in: ['yf', 'to', 'z'], out: ['y'] },
    ],
    outputs: ['y'],
  });
}

describe('a layer whose sums can reach 2²⁴', () => {
  it.each([
    ['Conv', 1200],
    ['Gemm', 1200],
    ['MatMul', 2500],
  ] as const)('%s is divided and gives the bytes of the plain executor', async (op, depth) => {
    const model = wideLayer(op, depth);
    const [input] = model.graph.inputs;
    const type = input === undefined ? undefined : model.graph.values.get(input)?.type;
    const dims = type?.kind === 'tensor' ? (type.dims as readonly number[]) : [];
    // The halves of the channels cancel each other but for a few, so that small sums follow from large partial sums.
    const data = Int8Array.from({ length: 4 * depth }, (_, index) => {
      const [channel, row] = op === 'Conv' ? [Math.floor(index / 4), index % 4] : [index % depth, Math.floor(index / depth)];
      return channel < depth / 2 + 2 * row ? 127 : -127;
    });
    const feeds = { x: makeTensor('int8', dims, data) };
    for (const mode of MODES) {
      const plain = await runPlain(model, mode, feeds);
      expect({ mode, ...(await runNudged(model, mode, feeds)) }).toEqual({ mode, ...plain });
      expect(new Set(plain.y?.data as Int8Array).size).toBeGreaterThan(2);
    }
  });
});

describe('counting roundings', () => {
  it('counts the halves that a mode rounds to another side, and expects 2^−(shift + 1)', async () => {
    const model = quantizedOp([{ op: 'Identity', in: ['xf'], out: ['yf'] }], [1, 1, 16, 16], 3);
    const counter = countRoundings({ arithmetic: 'integers', rounding: 'pow2-dpu' });
    const session = await counter.open(encodeModel(model), { optimization: 'all' });
    const outputs = await session.run({ x: everyInt8([1, 1, 16, 16]) }).finally(session.close);
    expect(Object.keys(outputs)).toEqual(['y']);
    // Of 256 integers, 32 end in 4, and 16 of them lie above an even number of eighths.
    expect(counter.counts()).toEqual([{ value: 'y', opType: 'Identity', shift: 3, elements: 256, changed: 16, expected: 16 }]);
  });
});

/** sum / 2^shift in exact integers. */
const roundings: Readonly<Record<ShiftMode, (sum: bigint, shift: bigint) => bigint>> = {
  'pow2-dpu': (sum, shift) => (shift === 0n ? sum : (sum + (1n << (shift - 1n))) >> shift),
  'pow2-std': (sum, shift) => {
    const magnitude = sum < 0n ? -sum : sum;
    const rounded = shift === 0n ? magnitude : (magnitude + (1n << (shift - 1n))) >> shift;
    return sum < 0n ? -rounded : rounded;
  },
  'pow2-py3': (sum, shift) => {
    const floor = sum >> shift;
    const twice = 2n * (sum - (floor << shift)) - (1n << shift);
    return twice > 0n || (twice === 0n && (floor & 1n) === 1n) ? floor + 1n : floor;
  },
};
