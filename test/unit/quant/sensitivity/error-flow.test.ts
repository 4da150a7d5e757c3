/** Shares of layers in the errors of outputs, against sums made by hand and against single layers in ONNX Runtime. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../../src/onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../../../src/onnx/surgery/extract.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { measureStepErrors } from '../../../../src/quant/sensitivity/error-flow.js';
import { shareErrors } from '../../../../src/quant/sensitivity/error-shares.js';
import { findSteps } from '../../../../src/quant/sensitivity/find-steps.js';
import { findQuantizedLayers } from '../../../../src/quant/sensitivity/quantized-layers.js';
import { openOutputMeter } from '../../../../src/quant/sensitivity/restored-outputs.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { runModel } from '../../../support/look-at-model.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { floats, randomConstant, randomFloats, type SmallNode, smallModel } from '../../../support/small-model.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tanren-flow-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function analyze(float: Model, quantized: Model, feeds: readonly Readonly<Record<string, Tensor>>[]) {
  const models = findSteps(float, quantized);
  const samples = feeds.map(feed => async () => feed);
  const layers = findQuantizedLayers(models);
  const shares = shareErrors(models, layers, await measureStepErrors(models, samples));
  const meter = await openOutputMeter({
    models,
    samples: { float: samples, quantized: samples },
    folder: await mkdtemp(join(folder, 'meter-')),
  });
  const restored = async (name: string): Promise<number> => {
    const layer = layers.find(({ names }) => names.includes(name));
    return [...(await meter.measure(new Set(layer?.values)))].reduce((sum, [, { errorSquares }]) => sum + errorSquares, 0);
  };
  const byName = (name: string) => shares.find(({ layer }) => layer.names.includes(name));
  return { layers, shares, byName, restored };
}

const pair = (name: string, scale: string): readonly SmallNode[] => [
  { op: 'QuantizeLinear', in: [name, scale, 'zero'], out: [`${name}_q`] },
  { op: 'DequantizeLinear', in: [`${name}_q`, scale, 'zero'], out: [`${name}_dq`] },
];

/** y = a + b with a = 2x in steps of 1 and b = 3x in steps of 0.25. */
function sumNetwork(form: 'float' | 'quantized'): Model {
  const own = form === 'quantized';
  return smallModel({
    inputs: { x: ['float32', [4]] },
    constants: {
      two: floats([1], [2]),
      three: floats([1], [3]),
      one: floats([], [1]),
      quarter: floats([], [0.25]),
      zero: encodeRawTensor(makeTensor('uint8', [], Uint8Array.of(0))),
    },
    nodes: [
      { op: 'Mul', in: ['x', 'two'], out: ['a'] },
      { op: 'Mul', in: ['x', 'three'], out: ['b'] },
      ...(own ? [...pair('a', 'one'), ...pair('b', 'quarter')] : []),
      { op: 'Add', in: own ? ['a_dq', 'b_dq'] : ['a', 'b'], out: ['y'] },
    ],
    outputs: ['y'],
  });
}

it('two branches that are added share the error by its product with theirs, and one in float leaves the error of the other', async () => {
  const x = makeTensor('float32', [4], Float32Array.of(0.125, 0.375, 0.625, 1.125));
  const { byName, restored, shares } = await analyze(sumNetwork('float'), sumNetwork('quantized'), [{ x }]);
  // a = .25 .75 1.25 2.25 becomes 0 1 1 2; b = .375 1.125 1.875 3.375 becomes .5 1 2 3.5, halves to even.
  const ofA = [-0.25, 0.25, -0.25, -0.25];
  const ofB = [0.125, -0.125, 0.125, 0.125];
  const dot = (p: readonly number[], q: readonly number[]): number => p.reduce((sum, one, i) => sum + one * (q[i] ?? 0), 0);
  const ofY = ofA.map((e, i) => e + (ofB[i] ?? 0));
  expect(byName('a')?.cost).toBeCloseTo(dot(ofA, ofY) / dot(ofY, ofY), 12);
  expect(byName('b')?.cost).toBeCloseTo(dot(ofB, ofY) / dot(ofY, ofY), 12);
  expect(byName('y')?.cost).toBe(0);
  expect(shares.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(1, 12);
  expect(await restored('a')).toBeCloseTo(dot(ofB, ofB), 12);
  expect(await restored('b')).toBeCloseTo(dot(ofA, ofA), 12);
});

const IMAGE = [1, 3, 8, 8];
const WEIGHTS = {
  w1: randomConstant([8, 3, 3, 3], 1),
  b1: randomConstant([8], 2),
  w2: randomConstant([8, 8, 3, 3], 3),
  b2: randomConstant([8], 4),
  w3: randomConstant([4, 8, 1, 1], 5),
};
const CHAIN: readonly SmallNode[] = [
  { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['c1'] },
  { op: 'Relu', in: ['c1'], out: ['r1'] },
  { op: 'Conv', name: 'two', in: ['r1', 'w2', 'b2'], out: ['c2'] },
  { op: 'Relu', in: ['c2'], out: ['r2'] },
  { op: 'Conv', name: 'three', in: ['r2', 'w3'], out: ['y'] },
];
const VALUES = ['x', 'r1', 'r2', 'y'] as const;
const chain = (outputs: readonly string[]) => smallModel({ inputs: { x: ['float32', IMAGE] }, constants: WEIGHTS, nodes: CHAIN, outputs });

/** The float layer that computes `to`, alone. */
async function runLayer(to: (typeof VALUES)[number], input: Tensor): Promise<Float32Array> {
  const from = VALUES[VALUES.indexOf(to) - 1] ?? 'x';
  const start = CHAIN.findIndex(node => node.in[0] === from);
  const nodes = CHAIN.slice(start, CHAIN.findIndex(node => node.out[0] === to) + 1);
  const used = Object.fromEntries(Object.entries(WEIGHTS).filter(([name]) => nodes.some(node => node.in.includes(name))));
  const layer = smallModel({ inputs: { [from]: ['float32', input.dims] }, constants: used, nodes, outputs: [to] });
  return (await runModel(layer, { [from]: input }))[to]?.data as Float32Array;
}

it('shares along a chain are those of each layer run alone', async () => {
  const x = randomFloats(IMAGE, 10);
  const float = chain(['y']);
  const quantized = await quantizeOn(float, { x }, PRESETS.u8s8);
  const { byName, shares } = await analyze(float, quantized, [{ x }]);
  expect(shares.map(({ layer }) => layer.names)).toEqual(VALUES.map(name => [name]));
  const values = await runModel(chain(VALUES.slice(1)), { x });
  // All values of the quantized model become outputs, under their dequantized names.
  const seen = await runModel(
    {
      ...quantized,
      graph: {
        ...quantized.graph,
        outputs: [...quantized.graph.values.values()].flatMap(({ id, name, producer }) =>
          producer !== undefined && /^(x|r1|r2)_DequantizeLinear_Output$|^y$/.test(name) ? [id] : [],
        ),
      },
    },
    { x },
  );
  let passed = 1;
  for (const name of [...VALUES].reverse()) {
    const exact = (name === 'x' ? x : values[name])?.data as Float32Array;
    const actual = (seen[`${name}_DequantizeLinear_Output`] ?? seen[name])?.data as Float32Array;
    const before = VALUES[VALUES.indexOf(name) - 1];
    const clean = before === undefined ? exact : await runLayer(name, seen[`${before}_DequantizeLinear_Output`] as Tensor);
    let [noise, part, own] = [0, 0, 0];
    for (const [i, value] of exact.entries()) {
      const error = Number(actual[i]) - value;
      noise += error * error;
      part += (Number(actual[i]) - Number(clean[i])) * error;
      own += (Number(actual[i]) - Number(clean[i])) ** 2;
    }
    const found = byName(name);
    expect(found?.own).toBeCloseTo(own, 9);
    expect(found?.cost).toBeCloseTo((passed * part) / noise, 9);
    passed *= 1 - part / noise;
  }
});

it('the exact cost of a layer is the error with that layer run in float on what the quantized layers before it compute', async () => {
  const x = randomFloats(IMAGE, 10);
  const float = chain(['y']);
  const quantized = await quantizeOn(float, { x }, PRESETS.u8s8);
  const { restored } = await analyze(float, quantized, [{ x }]);
  writeTypes(quantized, inferShapes(quantized));
  const before = extractSubgraph(quantized, { inputs: ['x'], outputs: ['x_DequantizeLinear_Output'] });
  const after = extractSubgraph(quantized, { inputs: ['r1_DequantizeLinear_Output'], outputs: ['y'] });
  const input = (await runModel(before, { x })).x_DequantizeLinear_Output as Tensor;
  const r1 = makeTensor('float32', [1, 8, 6, 6], await runLayer('r1', input));
  const { y } = await runModel(after, { r1_DequantizeLinear_Output: r1 });
  const exact = (await runModel(float, { x })).y?.data as Float32Array;
  const noise = exact.reduce((sum, value, i) => sum + (Number(y?.data[i]) - value) ** 2, 0);
  expect(await restored('r1')).toBeCloseTo(noise, 9);
});

it('values that are moved, and rounded again, are one layer, whose restoration leaves the error of its input alone', async () => {
  const x = randomFloats([1, 4, 4, 4], 3);
  const float = smallModel({
    inputs: { x: ['float32', [1, 4, 4, 4]] },
    constants: { w: randomConstant([4, 4, 1, 1], 1) },
    nodes: [
      { op: 'Conv', in: ['x', 'w'], out: ['a'] },
      { op: 'MaxPool', in: ['a'], out: ['y'], attributes: { kernel_shape: ints([2, 2]) } },
    ],
    outputs: ['y'],
  });
  const quantized = await quantizeOn(float, { x }, PRESETS.u8s8);
  const { layers, byName, restored } = await analyze(float, quantized, [{ x }]);
  expect(layers.map(({ names }) => names)).toEqual([['x'], ['a', 'y']]);
  expect((byName('x')?.cost ?? 0) + (byName('y')?.cost ?? 0)).toBeCloseTo(1, 9);
  const seen = (await runModel(extractSubgraph(quantized, { inputs: ['x'], outputs: ['x_DequantizeLinear_Output'] }), { x }))
    .x_DequantizeLinear_Output;
  const [exact, clean] = [await runModel(float, { x }), await runModel(float, { x: seen as Tensor })];
  const [own, other] = [exact.y?.data as Float32Array, clean.y?.data as Float32Array];
  const noise = own.reduce((sum, value, i) => sum + (Number(other[i]) - value) ** 2, 0);
  expect(await restored('y')).toBeCloseTo(noise, 9);
});
