/** Statistics refit: means and deviations are computed anew from ONNX Runtime's outputs, and compared with those of the reference. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { findRefitLayers } from '../../../../src/quant/refit/refit-layer.js';
import type { RefittedLayer } from '../../../../src/quant/refit/refit-report.js';
import { refitStatistics } from '../../../../src/quant/refit/refit-statistics.js';
import type { NamedTensors } from '../../../../src/runtime/session/model-inputs.js';
import { countOpenSessions } from '../../../support/count-sessions.js';
import { failureOf } from '../../../support/error-code.js';
import { listProblems, runModel } from '../../../support/look-at-model.js';
import { givenFolder } from '../../../support/run-stage.js';
import { floats, randomConstant, randomFloats, type SmallModel, smallModel } from '../../../support/small-model.js';

const IMAGE = [2, 4, 8, 8];
/** SiLU between layers of every kind; every layer's output is an output of the model, so that it can be measured. */
const NETWORK: SmallModel = {
  inputs: { x: ['float32', IMAGE] },
  constants: {
    w1: randomConstant([8, 4, 3, 3], 1),
    b1: randomConstant([8], 2),
    w2: randomConstant([8, 1, 3, 3], 3),
    w3: randomConstant([8, 3, 2, 2], 4),
    b3: randomConstant([6], 5),
    w4: randomConstant([6 * 64, 5], 6),
  },
  nodes: [
    { op: 'Conv', name: 'plain', in: ['x', 'w1', 'b1'], out: ['y1'], attributes: { pads: ints([1, 1, 1, 1]) } },
    { op: 'Sigmoid', in: ['y1'], out: ['g1'] },
    { op: 'Mul', in: ['y1', 'g1'], out: ['s1'] },
    { op: 'Conv', name: 'depthwise', in: ['s1', 'w2'], out: ['y2'], attributes: { group: int(8), pads: ints([1, 1, 1, 1]) } },
    { op: 'Sigmoid', in: ['y2'], out: ['g2'] },
    { op: 'Mul', in: ['y2', 'g2'], out: ['s2'] },
    {
      op: 'ConvTranspose',
      name: 'grouped',
      in: ['s2', 'w3', 'b3'],
      out: ['y3'],
      attributes: { group: int(2), strides: ints([2, 2]) },
    },
    { op: 'MaxPool', in: ['y3'], out: ['p3'], attributes: { kernel_shape: ints([2, 2]), strides: ints([2, 2]) } },
    { op: 'Flatten', in: ['p3'], out: ['f3'] },
    { op: 'Gemm', name: 'dense', in: ['f3', 'w4'], out: ['y4'] },
  ],
  outputs: ['y1', 'y2', 'y3', 'y4'],
};
const SAMPLES = [10, 11, 12].map(seed => ({ x: { ...randomFloats(IMAGE, seed), data: randomFloats(IMAGE, seed).data.map(v => 4 * v) } }));

const folder = givenFolder('refit');
let count = 0;

function hardened(network: SmallModel): Model {
  const model = smallModel(network);
  rewriteModel(model, { rules: [{ rule: getRule('silu-hard-swish', undefined), matches: 'any' }], edits: [], check: listProblems });
  return model;
}

async function refit(reference: Model, model: Model, samples: readonly NamedTensors[] = SAMPLES): Promise<readonly RefittedLayer[]> {
  const own = join(folder.path, `${count++}`);
  await mkdir(own);
  const feeds = samples.map(sample => async () => sample);
  const { layers } = findRefitLayers(reference, model);
  return refitStatistics({ reference, model, layers, samples: { reference: feeds, model: feeds }, folder: own, progress: () => {} });
}

/** [mean, deviation] of each channel of each output. */
async function statistics(model: Model): Promise<Readonly<Record<string, readonly (readonly [number, number])[]>>> {
  const channels: Record<string, number[][]> = {};
  for (const sample of SAMPLES) {
    for (const [name, { dims, data }] of Object.entries(await runModel(model, sample))) {
      const [, many = 1, ...rest] = dims;
      const inner = rest.reduce((product, dim) => product * dim, 1);
      channels[name] ??= Array.from({ length: many }, () => []);
      for (let i = 0; i < data.length; i++) channels[name][Math.floor(i / inner) % many]?.push(Number(data[i]));
    }
  }
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return Object.fromEntries(
    Object.entries(channels).map(([name, lists]) => [
      name,
      lists.map(list => [mean(list), Math.sqrt(mean(list.map(value => (value - mean(list)) ** 2)))] as const),
    ]),
  );
}

it('every channel of every layer gets mean and deviation of the reference, layers before the first rewrite keep their bits', async () => {
  const model = hardened(NETWORK);
  const before = await statistics(model);
  const layers = await refit(smallModel(NETWORK), model);
  const [wanted, after] = [await statistics(smallModel(NETWORK)), await statistics(model)];
  expect(before.y4).not.toEqual(wanted.y4);
  for (const [name, channels] of Object.entries(wanted)) {
    for (const [channel, [mean, deviation]] of channels.entries()) {
      const [ownMean = Number.NaN, ownDeviation = Number.NaN] = after[name]?.[channel] ?? [];
      // Weights and outputs are float32: a few 1e-7 of each of the up to 400 terms of a sum.
      expect(Math.abs(ownMean - mean)).toBeLessThan(2e-5 * deviation);
      expect(Math.abs(ownDeviation - deviation)).toBeLessThan(2e-5 * deviation);
    }
  }
  expect(layers.map(({ node }) => node)).toEqual(['plain', 'depthwise', 'grouped', 'dense']);
  expect(layers[0]).toEqual({ node: 'plain', meanShift: { before: 0, after: 0 }, factors: [1, 1], limited: 0 });
  for (const { meanShift, limited } of layers.slice(1)) {
    expect(meanShift.after).toBeLessThan(meanShift.before / 100);
    expect(limited).toBe(0);
  }
});

it('an equal model keeps every bit, also of layers without bias', async () => {
  const model = smallModel(NETWORK);
  await refit(smallModel(NETWORK), model);
  expect(encodeModel(model)).toEqual(encodeModel(smallModel(NETWORK)));
});

it('a channel that is constant in the reference is only shifted, and counted', async () => {
  const dead: SmallModel = {
    ...NETWORK,
    constants: { ...NETWORK.constants, w2: floats([8, 1, 1, 1], [0, 1, 2, 3, 4, 5, 6, 7]) },
    nodes: NETWORK.nodes.map(node => (node.name === 'depthwise' ? { ...node, attributes: { group: int(8) } } : node)),
  };
  const layers = await refit(smallModel(dead), hardened(dead));
  expect(layers.find(({ node }) => node === 'depthwise')?.limited).toBe(1);
  expect(layers.find(({ node }) => node === 'depthwise')?.factors[0]).toBeGreaterThan(0.5);
});

it('a layer without namesake, or with shared or computed constants, is skipped with the reason', () => {
  const given: SmallModel = {
    inputs: { x: ['float32', [1, 2, 4, 4]], w: ['float32', [2, 2, 1, 1]] },
    constants: { s: randomConstant([2, 2, 1, 1], 1) },
    nodes: [
      { op: 'Conv', name: 'one', in: ['x', 's'], out: ['a'] },
      { op: 'Conv', name: 'two', in: ['a', 's'], out: ['b'] },
      { op: 'Conv', name: 'three', in: ['b', 'w'], out: ['c'] },
      { op: 'Conv', name: 'four', in: ['c', 's'], out: ['y'] },
    ],
    outputs: ['y'],
  };
  const shared = 'its weight also serves other nodes (rule unshare-constants gives each a copy)';
  const reference = { ...given, nodes: given.nodes.map(node => ({ ...node, name: node.name === 'four' ? 'other' : (node.name ?? '') })) };
  expect(findRefitLayers(smallModel(reference), smallModel(given))).toEqual({
    layers: [],
    skipped: [
      { node: 'one', opType: 'Conv', reason: shared },
      { node: 'two', opType: 'Conv', reason: shared },
      { node: 'three', opType: 'Conv', reason: 'its weight is not a float32 constant' },
      { node: 'four', opType: 'Conv', reason: 'the reference has no layer of its name' },
    ],
  });
});

it('outputs that are not finite, and other numbers of channels, are refused', async () => {
  const infinite = SAMPLES.map(({ x }) => ({ x: { ...x, data: x.data.map(() => 3e38) } }));
  expect((await failureOf(() => refit(smallModel(NETWORK), hardened(NETWORK), infinite))).code).toBe('not-finite');
  const narrow: SmallModel = { ...NETWORK, nodes: NETWORK.nodes.slice(0, 1), outputs: ['y1'] };
  const other: SmallModel = { ...narrow, constants: { w1: randomConstant([6, 4, 3, 3]), b1: randomConstant([6]) } };
  expect((await failureOf(() => refit(smallModel(other), smallModel(narrow)))).code).toBe('layers-differ');
});

it('leaves no session open where a layer cannot be refitted', async () => {
  // The second sample has another form than the session of the first.
  const misfit = [...SAMPLES.slice(0, 1), { x: randomFloats([2, 5, 8, 8], 1) }];
  const open = await countOpenSessions(async () => {
    expect((await failureOf(() => refit(smallModel(NETWORK), hardened(NETWORK), misfit))).code).toBe('model-run');
  });
  expect(open).toBe(0);
});
