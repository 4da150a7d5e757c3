/** Bias correction on a layer whose numbers are computed by hand, and on what it refuses. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { openBiasCorrector, pairLayersWithBias } from '../../../../src/quant/recovery/correct-biases.js';
import { readBias } from '../../../../src/quant/recovery/layer-bias.js';
import type { LayerCorrection } from '../../../../src/quant/recovery/layer-correction.js';
import { orderByLayers } from '../../../../src/quant/recovery/layer-order.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { givenFolder } from '../../../support/run-stage.js';
import { floats, type SmallNode, smallModel } from '../../../support/small-model.js';

const X = ['float32', [1, 1, 1, 2]] as const;
const SAMPLES = [
  [1, 2],
  [3, 6],
] as const;
const Y_STEP = 1 / 16;

const bytes = (values: readonly number[], dims: readonly number[] = [values.length]) =>
  encodeRawTensor(makeTensor('int8', dims, Int8Array.from(values)));

/** Two channels: y = relu(0.7 x + 0.1) and relu(0.3 x + 0.25). */
const floatModel = (weights: readonly number[] = [0.7, 0.3]): Model =>
  smallModel({
    inputs: { x: [...X] },
    constants: { w: floats([2, 1, 1, 1], weights), b: floats([2], [0.1, 0.25]) },
    nodes: [
      { op: 'Conv', name: 'first', in: ['x', 'w', 'b'], out: ['c'] },
      { op: 'Relu', in: ['c'], out: ['y'] },
    ],
    outputs: ['y'],
  });

interface Form {
  readonly weights?: readonly number[];
  readonly integers?: readonly number[];
  readonly step?: number;
  readonly shared?: boolean;
}

/** The weights lie on a grid of 1/2: both are 0.5. The bias lies on a grid of `step`. */
function quantizedModel({ weights = [1, 1], integers = [13, 32], step = 1 / 128, shared = false }: Form = {}): Model {
  const nodes: SmallNode[] = [
    { op: 'DequantizeLinear', in: ['w_q', 'w_scale'], out: ['w'] },
    { op: 'DequantizeLinear', in: ['b_q', 'b_scale'], out: ['b'] },
    { op: 'Conv', name: 'first', in: ['x', 'w', 'b'], out: ['c'] },
    { op: 'Relu', in: ['c'], out: ['r'] },
    { op: 'QuantizeLinear', in: ['r', 'y_scale', 'y_zero'], out: ['q'] },
    { op: 'DequantizeLinear', in: ['q', 'y_scale', 'y_zero'], out: ['y'] },
    ...(shared ? [{ op: 'Conv', name: 'second', in: ['x', 'w', 'b'], out: ['z'] }] : []),
  ];
  return smallModel({
    inputs: { x: [...X] },
    constants: {
      w_q: bytes(weights, [2, 1, 1, 1]),
      w_scale: floats([], [0.5]),
      b_q: bytes(integers),
      b_scale: floats([], [step]),
      y_scale: floats([], [Y_STEP]),
      y_zero: encodeRawTensor(makeTensor('uint8', [], Uint8Array.from([0]))),
    },
    nodes,
    outputs: shared ? ['y', 'z'] : ['y'],
  });
}

const folder = givenFolder('correct-biases');
let count = 0;

async function open(float: Model, quantized: Model) {
  const own = join(folder.path, `${count++}`);
  await mkdir(own);
  const feeds = SAMPLES.map(values => async () => ({ x: makeTensor('float32', [1, 1, 1, 2], Float32Array.from(values)) }));
  const { layers } = pairLayersWithBias(float, quantized);
  return {
    layers,
    corrector: await openBiasCorrector({ float, quantized, layers, samples: { float: feeds, quantized: feeds }, folder: own }),
  };
}

async function correct(float: Model, quantized: Model): Promise<LayerCorrection> {
  const { corrector, layers } = await open(float, quantized);
  const found = await corrector.correct();
  const [layer] = layers;
  if (layer === undefined) throw new Error('one layer');
  expect(readBias(quantized.graph, layer.target)).toEqual(found.elements);
  return found;
}

describe('a layer of two channels', () => {
  it('the bias takes up the mean error of each channel, rounded to its grid', async () => {
    // Mean input 3. Channel 0: 0.7·3 + 0.1 − (0.5·3 + 13/128) = 0.5984375 = 76.6 steps. Channel 1: 0.3·3 + 0.25 − (0.5·3 + 32/128) = −0.6 = −76.8 steps.
    const found = await correct(floatModel(), quantizedModel());
    expect(found).toMatchObject({ node: 'first', result: 'corrected', saturated: 0, elements: [13 + 77, 32 - 77] });
    // Root mean square of 0.5984375 and 0.6; then of what rounding leaves, 0.4 and 0.2 steps. Sums are of float32 numbers near the decimal ones.
    expect(found.meanError.before).toBeCloseTo(Math.hypot(0.5984375, 0.6) / Math.SQRT2, 6);
    expect(found.meanError.after).toBeCloseTo(Math.hypot(0.4, 0.2) / 128 / Math.SQRT2, 6);
    const inputs = SAMPLES.flat();
    expect(found.signal).toBeCloseTo(
      inputs.reduce((sum, x) => sum + (0.7 * x + 0.1) ** 2 + (0.3 * x + 0.25) ** 2, 0),
      4,
    );
    const grid = (y: number): number => Math.round(Math.max(0, y) / Y_STEP) * Y_STEP;
    const noiseOf = (bias: readonly [number, number]): number =>
      inputs.reduce(
        (sum, x) => sum + (grid(x / 2 + bias[0] / 128) - 0.7 * x - 0.1) ** 2 + (grid(x / 2 + bias[1] / 128) - 0.3 * x - 0.25) ** 2,
        0,
      );
    expect(found.noise.before).toBeCloseTo(noiseOf([13, 32]), 5);
    expect(found.noise.after).toBeCloseTo(noiseOf([90, -45]), 5);
    expect(found.noise.after).toBeLessThan(found.noise.before);
  });

  it('a bias whose type cannot hold the correction saturates', async () => {
    // Channel 0: 2.2 − (1.5 + 120/256) = 59.2 steps, and 179 is beyond 127. Channel 1: 1.15 − (1.5 + 26/256) = −115.6 steps.
    const found = await correct(floatModel(), quantizedModel({ integers: [120, 26], step: 1 / 256 }));
    expect(found).toMatchObject({ result: 'corrected', elements: [127, -90], saturated: 1 });
  });

  it('a shift of less than half a step changes nothing', async () => {
    // The weights are exact; 0.1 is 12.8 steps.
    const found = await correct(floatModel([0.5, 0.5]), quantizedModel());
    expect(found).toMatchObject({ result: 'below-half-a-step', elements: [13, 32] });
    expect(found.noise.after).toBe(found.noise.before);
  });

  it('a correction that raises the error behind the activation function is taken back', async () => {
    // Channel 0 is negative for every input, in both models: Relu hides its error, and the shift by 0.6 would show it. Channel 1 is exact.
    const quantized = quantizedModel({ weights: [-1, 1] });
    const found = await correct(floatModel([-0.3, 0.5]), quantized);
    expect(found).toMatchObject({ result: 'error-not-lower', elements: [13, 32], noise: { before: 0 } });
    // x = 1: −1/2 + 90/128 is 3/16 on the grid, and no other input shows.
    expect(found.noise.after).toBeCloseTo((3 / 16) ** 2, 9);
  });

  it('a float32 bias takes up the whole error', async () => {
    const quantized = floatModel([0.5, 0.5]);
    const found = await correct(floatModel(), quantized);
    expect(found.result).toBe('corrected');
    for (const [i, expected] of [0.7, -0.35].entries()) expect(found.elements[i]).toBeCloseTo(expected, 6);
    expect(found.meanError.after).toBeLessThan(1e-6);
  });
});

describe('layers that stay as they are', () => {
  const skippedOf = (float: Model, quantized: Model) => pairLayersWithBias(float, quantized).skipped;

  it('a bias that serves two layers', () => {
    const quantized = quantizedModel({ shared: true });
    expect(skippedOf(floatModel(), quantized)).toEqual([
      { node: 'first', opType: 'Conv', reason: 'its bias also serves other nodes' },
      { node: 'second', opType: 'Conv', reason: 'the float model has no layer of its name' },
    ]);
  });

  it('a layer without bias, and one whose bias is computed', () => {
    const without = smallModel({
      inputs: { x: [...X], b: ['float32', [2]] },
      constants: { w: floats([2, 1, 1, 1], [1, 2]) },
      nodes: [
        { op: 'Conv', name: 'plain', in: ['x', 'w'], out: ['y'] },
        { op: 'Conv', name: 'given', in: ['x', 'w', 'b'], out: ['z'] },
      ],
      outputs: ['y', 'z'],
    });
    expect(skippedOf(without, without).map(({ node, reason }) => [node, reason])).toEqual([
      ['plain', 'it has no bias'],
      ['given', 'its bias is computed'],
    ]);
  });

  it('models whose layers follow each other in another order are refused', async () => {
    const chain = (names: readonly [string, string]): Model =>
      smallModel({
        inputs: { x: [...X] },
        constants: { w: floats([1, 1, 1, 1], [0.5]), b: floats([1], [0]), b2: floats([1], [0]) },
        nodes: [
          { op: 'Conv', name: names[0], in: ['x', 'w', 'b'], out: ['c'] },
          { op: 'Conv', name: names[1], in: ['c', 'w', 'b2'], out: ['y'] },
        ],
        outputs: ['y'],
      });
    expect((await failureOf(() => open(chain(['a', 'b']), chain(['b', 'a'])))).code).toBe('layers-differ');
  });

  it('a layer of other channels in the float model is refused', async () => {
    const { corrector } = await open(floatModel(), quantizedModel());
    expect(corrector.next()).toBe(0);
    const wide = smallModel({
      inputs: { x: [...X] },
      constants: { w: floats([3, 1, 1, 1], [1, 2, 3]), b: floats([3], [0, 0, 0]) },
      nodes: [{ op: 'Conv', name: 'first', in: ['x', 'w', 'b'], out: ['y'] }],
      outputs: ['y'],
    });
    const other = await open(wide, quantizedModel());
    const failure = await failureOf(() => other.corrector.correct());
    expect(failure).toMatchObject({ code: 'layers-differ', message: expect.stringContaining('[1, 3, 1, 2]') });
  });
});

it('nothing of a later branch comes before the end of a layer', () => {
  // Both branches read x; in the file, the second Conv stands between the first and its Relu.
  const model = smallModel({
    inputs: { x: [...X] },
    constants: { w: floats([1, 1, 1, 1], [1]), b1: floats([1], [0]), b2: floats([1], [0]) },
    nodes: [
      { op: 'Conv', name: 'one', in: ['x', 'w', 'b1'], out: ['c1'] },
      { op: 'Conv', name: 'two', in: ['x', 'w', 'b2'], out: ['c2'] },
      { op: 'Relu', name: 'relu one', in: ['c1'], out: ['r1'] },
      { op: 'Relu', name: 'relu two', in: ['c2'], out: ['r2'] },
      { op: 'Add', name: 'add', in: ['r1', 'r2'], out: ['y'] },
    ],
    outputs: ['y'],
  });
  const { layers } = pairLayersWithBias(model, model);
  const { order, ends } = orderByLayers(
    model,
    layers.map(({ float }) => float),
  );
  expect(order.map(({ name }) => name)).toEqual(['one', 'relu one', 'two', 'relu two', 'add']);
  expect(ends).toEqual([2, 4]);
});

it('pairs layers without a name by the name of their output, also where that is an output of the model', async () => {
  const nameless = (): Model =>
    smallModel({
      inputs: { x: [...X] },
      constants: { w: floats([2, 1, 1, 1], [0.7, 0.3]), v: floats([2, 2, 1, 1], [0.1, 0.2, 0.3, 0.4]), b: floats([2], [0.1, 0.25]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w', 'b'], out: ['c'] },
        { op: 'Conv', in: ['c', 'v', 'b'], out: ['y'] },
      ],
      outputs: ['y'],
    });
  const x = makeTensor('float32', [1, 1, 1, 2], Float32Array.from([1, 2]));
  const { layers } = pairLayersWithBias(nameless(), await quantizeOn(nameless(), { x }, PRESETS.u8s8));
  expect(layers.map(layer => layer.name)).toEqual(['c', 'y']);
});
