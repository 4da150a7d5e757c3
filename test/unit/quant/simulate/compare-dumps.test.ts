/** Tensors of a device against a simulation: the plain executor plays the device. */
import { ints } from '../../../../src/onnx/ir/attribute.js';
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { compareDumps, prepareForDumps } from '../../../../src/quant/simulate/dumps/compare-dumps.js';
import { decodeRawDump, type Layout, toSteps } from '../../../../src/quant/simulate/dumps/dumped-tensor.js';
import type { QuantizedValue } from '../../../../src/quant/simulate/dumps/quantized-values.js';
import { openPlainExecutor } from '../../../../src/quant/simulate/plain/executor.js';
import type { RoundingMode } from '../../../../src/quant/simulate/steps/rounding-mode.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { randomConstant, randomFloats, smallModel } from '../../../support/small-model.js';

const DIMS = [1, 4, 12, 12];
const feeds = { x: randomFloats(DIMS, 3) };
const pads = { pads: ints([1, 1, 1, 1]) };
const POW2: readonly RoundingMode[] = ['pow2-dpu', 'pow2-py3', 'pow2-std'];

/** Three Conv in a row, the second with Relu, and a sum around it. @param seed of the weights of the second. */
const makeModel = (seed = 7): Model =>
  smallModel({
    inputs: { x: ['float32', DIMS] },
    constants: { w1: randomConstant([8, 4, 3, 3], 5), w2: randomConstant([8, 8, 3, 3], seed), w3: randomConstant([4, 8, 3, 3], 9) },
    nodes: [
      { op: 'Conv', in: ['x', 'w1'], out: ['a'], attributes: pads },
      { op: 'Conv', in: ['a', 'w2'], out: ['c'], attributes: pads },
      { op: 'Relu', in: ['c'], out: ['r'] },
      { op: 'Add', in: ['r', 'a'], out: ['s'] },
      { op: 'Conv', in: ['s', 'w3'], out: ['y'], attributes: pads },
    ],
    outputs: ['y'],
  });

const quantized = quantizeOn(makeModel(), feeds, PRESETS.xint8);

/** What a device with this rounding computes, by value. */
async function runDevice(model: Model, rounding: RoundingMode): Promise<ReadonlyMap<string, Tensor>> {
  const executor = openPlainExecutor(cloneModel(model), rounding);
  const tensors = new Map<string, Tensor>();
  await executor.run(feeds, ({ name }, tensor) => void tensors.set(name, tensor)).finally(executor.close);
  return tensors;
}

async function compare(
  device: ReadonlyMap<string, Tensor>,
  options: {
    roundings?: readonly RoundingMode[];
    tolerance?: number;
    inputs?: Record<string, Tensor>;
    keep?: (value: QuantizedValue) => boolean;
  } = {},
) {
  const model = cloneModel(await quantized);
  const values = prepareForDumps(model);
  const dumps = new Map(
    values.flatMap(value => {
      const tensor = device.get(value.name);
      return tensor === undefined || options.keep?.(value) === false ? [] : [[value.id, toSteps(tensor, value, 'nchw')] as const];
    }),
  );
  return compareDumps(model, values, {
    dumps,
    inputs: options.inputs ?? feeds,
    roundings: options.roundings ?? POW2,
    tolerance: options.tolerance ?? 0,
    warn: () => undefined,
  });
}

describe('dumps of a device that computes as the simulation', () => {
  it.each(POW2)('have no deviation, and the rounding %s is found', async rounding => {
    const { first, values, shares, ...found } = await compare(await runDevice(await quantized, rounding));
    expect([found.rounding, first]).toEqual([rounding, undefined]);
    expect(values.map(({ opType }) => opType)).toEqual(['QuantizeLinear', 'Conv', 'Conv, Relu', 'Add', 'Conv']);
    for (const { own, fromInputs } of values)
      expect([own, fromInputs]).toEqual([
        { differing: 0, maxSteps: 0 },
        { differing: 0, maxSteps: 0 },
      ]);
    // The other modes change some results, by one step.
    expect(shares.filter(({ differing }) => differing === 0)).toHaveLength(1);
  });

  it('differ in the share of results that another rounding changes, by one step', async () => {
    const { values } = await compare(await runDevice(await quantized, 'pow2-dpu'), { roundings: ['pow2-py3'] });
    const differing = values.filter(({ own }) => (own?.differing ?? 0) > 0);
    expect(differing.length).toBeGreaterThan(0);
    for (const { own, elements } of differing) {
      expect(own?.maxSteps).toBe(1);
      // Half of the sums that end in one half: 2^−(s + 1) for a shift of s bits, and the sum shifts by one at least.
      expect((own?.differing ?? 0) / elements).toBeLessThan(0.26);
    }
    const tolerant = await compare(await runDevice(await quantized, 'pow2-dpu'), { roundings: ['pow2-py3'], tolerance: 1 });
    expect(tolerant.first).toBeUndefined();
  });
});

describe('a device with a wrong layer', () => {
  it('is named by the layer alone, and every layer after it deviates from the inputs on', async () => {
    const wrong = cloneModel(await quantized);
    const weights = [...wrong.graph.values.values()].find(({ name }) => name.startsWith('w2') && name.endsWith('quantized'));
    const constant = weights?.constant;
    if (weights === undefined || constant === undefined || constant.dtype === 'string') throw new Error('no weights of the second Conv');
    weights.constant = { ...constant, bytes: constant.bytes.map((byte, index) => (index < 72 ? byte ^ 0x15 : byte)) };
    const { first, values } = await compare(await runDevice(wrong, 'pow2-dpu'), { roundings: ['pow2-dpu'] });
    expect(first).toBe(values[2]?.name);
    expect(values.map(({ own }) => (own?.differing ?? 0) > 0)).toEqual([false, false, true, false, false]);
    expect(values.map(({ fromInputs }) => (fromInputs?.differing ?? 0) > 0)).toEqual([false, false, true, true, true]);
  });

  it('is found without the inputs of the model, from the first dumped value on', async () => {
    const device = await runDevice(await quantized, 'pow2-dpu');
    const { values } = await compare(device, { inputs: {} });
    expect(values.map(({ own, fromInputs }) => [own === undefined, fromInputs === undefined])).toEqual([
      [true, true],
      ...Array.from({ length: 4 }, () => [false, false]),
    ]);
    expect((await failureOf(() => compare(device, { inputs: {}, keep: ({ opType }) => opType === 'QuantizeLinear' }))).code).toBe(
      'dump-inputs',
    );
  });

  it('deviates where it computed NaN', async () => {
    const device = new Map(await runDevice(await quantized, 'pow2-dpu'));
    const [last] = prepareForDumps(cloneModel(await quantized)).slice(-1);
    if (last === undefined) throw new Error('no value');
    device.set(last.name, makeTensor('float32', last.dims, new Float32Array(device.get(last.name)?.data.length ?? 0).fill(Number.NaN)));
    const { first, values } = await compare(device);
    expect(first).toBe(last.name);
    expect(values.at(-1)?.own?.maxSteps).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a dumped tensor', () => {
  const value: QuantizedValue = {
    id: 0 as QuantizedValue['id'],
    name: 'v',
    aliases: [],
    opType: 'Conv',
    dtype: 'uint8',
    dims: [1, 2, 1, 3],
    scale: 0.25,
    zeroPoint: 128,
  };
  const steps = [128, 129, 127, 255, 0, 130];
  const read = (tensor: Tensor, layout: Layout = 'nchw') => toSteps(tensor, value, layout);

  it.each([
    ['its integers', makeTensor('uint8', value.dims, Uint8Array.from(steps))],
    [
      'int8 around 0',
      makeTensor(
        'int8',
        value.dims,
        Int8Array.from(steps, step => step - 128),
      ),
    ],
    [
      'real numbers',
      makeTensor(
        'float32',
        value.dims,
        Float32Array.from(steps, step => (step - 128) / 4),
      ),
    ],
  ])('may have %s', (_, tensor) => {
    expect(read(tensor)).toEqual({ steps: Float64Array.from(steps), offGrid: 0 });
  });

  it('may have its channels last', () => {
    const last = [128, 255, 129, 0, 127, 130];
    expect(read(makeTensor('uint8', [1, 1, 3, 2], Uint8Array.from(last)), 'nhwc').steps).toEqual(Float64Array.from(steps));
    expect(read(decodeRawDump(Uint8Array.from(last), value, 'nhwc'), 'nhwc').steps).toEqual(Float64Array.from(steps));
  });

  it('may be raw bytes, of which the size tells the type', () => {
    const reals = Float32Array.from(steps, step => (step - 128) / 4);
    expect(read(decodeRawDump(Uint8Array.from(steps), value, 'nchw')).steps).toEqual(Float64Array.from(steps));
    expect(read(decodeRawDump(new Uint8Array(reals.buffer), value, 'nchw')).steps).toEqual(Float64Array.from(steps));
  });

  it('counts real numbers that are no multiple of the scale', () => {
    expect(read(makeTensor('float32', value.dims, Float32Array.of(0, 0.1, 0.25, 0.5, Number.NaN, 0))).offGrid).toBe(2);
  });

  it('of another size or type is refused', async () => {
    expect((await failureOf(() => decodeRawDump(new Uint8Array(7), value, 'nchw'))).code).toBe('dump-shape');
    expect((await failureOf(() => read(makeTensor('uint8', [1, 1, 3, 2], Uint8Array.from(steps))))).code).toBe('dump-shape');
    expect((await failureOf(() => read(makeTensor('int32', value.dims, Int32Array.from(steps))))).code).toBe('dump-type');
  });
});
