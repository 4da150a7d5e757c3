/** The stage `widen-types` on a quantized network of three layers: against all sets of wider tensors, measured by ONNX Runtime through `quantize`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { type ModelSketches, parseModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { optionsOf } from '../../../src/quant/options-of.js';
import { quantizeModel } from '../../../src/quant/quantize-model.js';
import type { QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { QUANTIZE_PARAMS, type QuantizeParams } from '../../../src/quant/settings/quantize-params.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { capture } from '../../../stages/capture/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { checkBaseline, figuresOfGate } from '../../../stages/widen-types/judge.js';
import { widenTypes } from '../../../stages/widen-types/stage.js';
import { failureOf } from '../../support/error-code.js';
import { runModel } from '../../support/look-at-model.js';
import { ajvOf } from '../../support/params-schema.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { randomConstants, randomFloats, smallModel } from '../../support/small-model.js';
import { storingMemo } from '../../support/storing-memo.js';

const IMAGE = [1, 3, 8, 8];
const SEEDS = [10, 11];
/** Weights have a scale per channel, so that 16 bits bring much. */
const QUANTIZE = { preset: 'a8w8-per-channel', qdqDomain: 'com.microsoft' };

const network = (): Model =>
  smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: randomConstants({ w1: [8, 3, 3, 3], b1: [8], w2: [8, 8, 1, 1], b2: [8], w3: [4, 8, 1, 1], b3: [4] }),
    nodes: [
      { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['c1'] },
      { op: 'Relu', in: ['c1'], out: ['r1'] },
      { op: 'Conv', name: 'two', in: ['r1', 'w2', 'b2'], out: ['c2'] },
      { op: 'Add', name: 'sum', in: ['c2', 'r1'], out: ['s'] },
      { op: 'Conv', name: 'three', in: ['s', 'w3', 'b3'], out: ['y'] },
    ],
    outputs: ['y'],
  });

const folder = givenFolder('widen-types');
const memo = storingMemo(folder);
let inputs: Record<string, string>;
let float: Model;
let sketches: ModelSketches;
let expected: readonly Float32Array[];
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  await mkdir(at('tensors'));
  await writeModel(at('float.onnx'), network());
  float = await readModel(at('float.onnx'));
  for (const seed of SEEDS) await writeFile(at(`tensors/${seed}.npz`), encodeNpz(new Map([['x', randomFloats(IMAGE, seed)]])));
  const captured = await runStage(capture, {
    params: { of: 'model' },
    inputs: { model: at('float.onnx'), tensors: at('tensors') },
    folder: folder.path,
  });
  inputs = { model: at('float.onnx'), captured: captured.outputs.captured ?? '' };
  const { outputs } = await runStage(calibrate, { params: {}, inputs, folder: folder.path });
  inputs.sketches = outputs.sketches ?? '';
  sketches = parseModelSketches(await readJsonFile(inputs.sketches));
  const outputsOf = async (seed: number) => (await runModel(float, { x: randomFloats(IMAGE, seed) })).y?.data as Float32Array;
  expected = await Promise.all(SEEDS.map(outputsOf));
});
beforeEach(() => memo.forget());

async function run(params: JsonObject, more: Partial<Parameters<typeof runStage>[1]> = {}) {
  const { outputs, log } = await runStage(widenTypes, {
    params: { quantize: QUANTIZE, ...params },
    inputs,
    folder: folder.path,
    ...more,
  });
  return {
    overrides: outputs.overrides ?? '',
    types: (await readJsonFile(outputs.overrides ?? '')) as {
      readonly overrides: readonly { readonly tensor: string }[];
      readonly exclude: JsonObject;
    },
    report: (await readJsonFile(outputs.report ?? '')) as {
      readonly found: { readonly tensors: number; readonly cost: number; readonly figures: JsonObject };
      readonly trials: number;
    },
    log,
  };
}

/** What `quantize` makes with a file of wider types. */
async function quantizeWith(overrides: string, params: JsonObject = QUANTIZE) {
  const own = { model: inputs.model ?? '', sketches: inputs.sketches ?? '', overrides };
  const { outputs } = await runStage(quantize, { params, inputs: own, folder: folder.path });
  const report = (await readJsonFile(outputs.report ?? '')) as unknown as QuantizationReport;
  return { report, sqnrDb: await sqnrOf(await readModel(outputs.model ?? '')) };
}

/** With these tensors in 16 bits, as a user overrides them. */
async function widened(tensors: readonly string[], params: JsonObject = QUANTIZE) {
  const overrides = tensors.map(tensor => ({ tensor, set: { dtype: 'int16', range: 'min-max' } }));
  const parsed = ajvOf(QUANTIZE_PARAMS)({ ...params, overrides }) as QuantizeParams;
  const model = cloneModel(float);
  const report = quantizeModel(model, digestModelContent(model), sketches, optionsOf(parsed));
  return { report, sqnrDb: await sqnrOf(model) };
}

/** Of the output over all samples, by ONNX Runtime. */
async function sqnrOf(model: Model): Promise<number> {
  const sums = { signal: 0, noise: 0 };
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  for (const [index, seed] of SEEDS.entries()) {
    const actual = (await session.run({ x: randomFloats(IMAGE, seed) })).y;
    for (const [i, y] of (expected[index] ?? new Float32Array()).entries()) {
      sums.signal += y * y;
      sums.noise += (Number(actual?.data[i]) - y) ** 2;
    }
  }
  await session.close();
  return 10 * Math.log10(sums.signal / sums.noise);
}

it('the set holds an SQNR, is 1-minimal, and costs as little as the best of all sets, measured through `quantize`', async () => {
  const { report } = await widened([]);
  const roots = report.activations.filter(({ sharedWith }) => sharedWith === undefined).map(({ name }) => name);
  expect(roots.length).toBeGreaterThanOrEqual(5);
  const costs = new Map(
    roots.map(root => [
      root,
      report.activations.reduce(
        (sum, { name, sharedWith, elements = 0 }) => (name === root || sharedWith === root ? sum + elements : sum),
        0,
      ) / SEEDS.length,
    ]),
  );
  const costOf = (set: readonly string[]): number => set.reduce((sum, name) => sum + (costs.get(name) ?? 0), 0);
  const all = [];
  for (let bits = 0; bits < 2 ** roots.length; bits++) {
    const tensors = roots.filter((_, i) => ((bits >> i) & 1) === 1);
    all.push({ tensors, cost: costOf(tensors), ...(await widened(tensors)) });
  }
  const [narrow, wide] = [all[0]?.sqnrDb ?? 0, all.at(-1)?.sqnrDb ?? 0];
  expect(wide).toBeGreaterThan(narrow + 4);
  for (const part of [0.3, 0.8]) {
    const goal = narrow + part * (wide - narrow);
    const found = await run({ constraint: { sqnrDb: goal } });
    const tensors = found.types.overrides.map(({ tensor }) => tensor);
    expect((await quantizeWith(found.overrides)).sqnrDb).toBeGreaterThanOrEqual(goal);
    for (const tensor of tensors) {
      expect((await widened(tensors.filter(other => other !== tensor))).sqnrDb).toBeLessThan(goal);
    }
    const best = Math.min(...all.filter(({ sqnrDb }) => sqnrDb >= goal).map(({ cost }) => cost));
    expect(found.report.found.cost).toBeLessThanOrEqual(1.1 * best);
    expect(found.report.found.cost).toBe(costOf(tensors));
  }
}, 60_000);

it('trials are kept: a stopped search goes on behind its last one, and a second run measures nothing', async () => {
  const [low, high] = [(await widened([])).sqnrDb, (await widened(['x', 'r1'])).sqnrDb];
  const params = { constraint: { sqnrDb: (low + high) / 2 } };
  const stop = new AbortController();
  const progress = (done: number, _total: number, what: string): void => {
    if (what === 'sets' && done === 3) stop.abort(new Error('stopped'));
  };
  await expect(run(params, { memo: memo.memo, signal: stop.signal, progress })).rejects.toThrow('stopped');
  const before = [...memo.computed];
  expect(before).toEqual(['widen-types-errors', ...Array<string>(2).fill('widen-types-outputs')]);
  memo.forget();
  const { report, types } = await run(params, { memo: memo.memo });
  expect(memo.computed).toHaveLength(report.trials - 2);
  memo.forget();
  expect(await run(params, { memo: memo.memo })).toMatchObject({ types, report });
  expect(memo.computed).toEqual([]);
});

it('within a share of the cost, the set fits, and narrowing one of it raises the error', async () => {
  const { report, types } = await run({ constraint: { share: 0.5 } });
  const tensors = types.overrides.map(({ tensor }) => tensor);
  expect(tensors.length).toBeGreaterThan(0);
  expect(report.found).toMatchObject({ shares: { cost: expect.any(Number) } });
  const found = await widened(tensors);
  for (const tensor of tensors) {
    expect((await widened(tensors.filter(other => other !== tensor))).sqnrDb).toBeLessThan(found.sqnrDb);
  }
  expect(found.sqnrDb).toBeGreaterThan((await widened([])).sqnrDb);
});

it('under power-of-two scales a wider type is float: the nodes that touch the tensors leave the integers', async () => {
  const xint8 = { preset: 'xint8' };
  const narrow = await widened([], xint8);
  const goal = narrow.sqnrDb + 3;
  const { overrides, types, report } = await run({
    quantize: xint8,
    to: 'float',
    constraint: { sqnrDb: { y: goal } },
    target: 'ryzen-ai',
    dtype: 'xint8',
  });
  expect(types.overrides).toEqual([]);
  const found = await quantizeWith(overrides, xint8);
  expect(found.sqnrDb).toBeGreaterThanOrEqual(goal);
  expect(found.report.inFloat.length).toBeGreaterThan(narrow.report.inFloat.length);
  expect(report.found.cost).toBeGreaterThan(0);
});

it.each([
  ['an SQNR that 16 bits do not reach', { constraint: { sqnrDb: 200 } }, 'constraint-out-of-reach'],
  ['an output that the model lacks', { constraint: { sqnrDb: { z: 10 } } }, 'unknown-output'],
  [
    'tensors that all have 16 bits, and an SQNR that they miss',
    { quantize: { preset: 'a16w8' }, constraint: { sqnrDb: 200 } },
    'nothing-to-widen',
  ],
  ['tensors that all have 16 bits', { quantize: { preset: 'a16w8' }, constraint: { share: 0.5 } }, 'nothing-to-widen'],
  ['tensors that do not exist', { tensors: ['nothing*'], constraint: { share: 0.5 } }, 'nothing-to-widen'],
  ['16 bits on a target for 8', { constraint: { share: 0.5 }, target: 'generic-int8' }, 'type-not-admitted'],
])('%s: refused', async (_name, params, code) => {
  expect((await failureOf(() => run(params))).code).toBe(code);
});

it('where everything has 16 bits and meets the constraint, nothing becomes wider', async () => {
  const { types, report } = await run({ quantize: { preset: 'a16w8' }, constraint: { sqnrDb: 5 } });
  expect(types).toEqual({ format: 'tanren-widened-types/1', overrides: [], exclude: { tensors: [], outputs: [] } });
  expect(report.found).toMatchObject({ tensors: 0, cost: 0, shares: { cost: 0, tensors: 0, bytes: 0 } });
});

it('a share that no tensor fits into is warned about', async () => {
  const { report, log } = await run({ constraint: { share: 1e-6 } });
  expect(report.found.tensors).toBe(0);
  expect(log[0]).toMatch(/^warning: nothing becomes wider, because no tensor fits into the share: one of \d+ is [\d.]+ % of their number/);
});

it('a name that no tensor has is answered with those that can become wider', async () => {
  const { message, help } = await failureOf(() => run({ tensors: ['nothing*'], constraint: { share: 0.5 } }));
  expect([message, help]).toEqual([
    'no tensor that can become wider has a name like nothing*',
    expect.stringContaining('such tensors are x, '),
  ]);
});

it('differences to a baseline of other images are refused, as by `evaluate`', async () => {
  const baseline = { bbox: { AP: 0.75 }, images: 12 };
  const check = (gate: Record<string, string>, images: number) => failureOf(async () => checkBaseline(gate, baseline, images));
  expect(await check({ 'delta.bbox.AP': '>= 0' }, 4)).toMatchObject({
    code: 'baseline-metrics',
    message: 'the baseline was measured on 12 images, this stage judges on 4',
  });
  checkBaseline({ 'delta.bbox.AP': '>= 0' }, baseline, 12);
  checkBaseline({ 'bbox.AP': '>= 0' }, baseline, 4);
});

it('`quantize` refuses another file on its port `overrides`', async () => {
  await writeJsonFile(at('other.json'), { format: 'other' });
  expect((await failureOf(() => quantizeWith(at('other.json')))).code).toBe('bad-widened-types');
});

it('figures of a gate are those of the data, or differences to the baseline; a figure without objects is refused', async () => {
  const measured = { bbox: { AP: 0.5, APsmall: -1 } };
  expect(figuresOfGate({ 'bbox.AP': '>= 0', 'delta.bbox.AP': '>= 0' }, measured, { bbox: { AP: 0.75 } })).toEqual({
    'bbox.AP': 0.5,
    'delta.bbox.AP': -0.25,
  });
  const named = { bbox: { classes: { 'no. 5': { AP: 0.5 } } } };
  expect(figuresOfGate({ 'bbox.classes.no. 5.AP': '>= 0' }, named, {})).toEqual({ 'bbox.classes.no. 5.AP': 0.5 });
  const codeOf = async (metric: string) => (await failureOf(async () => figuresOfGate({ [metric]: '>= 0' }, measured, {}))).code;
  expect([await codeOf('bbox.APsmall'), await codeOf('delta.bbox.AP')]).toEqual(['metric-missing', 'baseline-metrics']);
});
