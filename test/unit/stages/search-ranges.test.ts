/** The stage `search-ranges` on a network with outliers: against errors that ONNX Runtime computes through `quantize`, and how it resumes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import type { RangeSearchReport } from '../../../src/quant/range-search/searched-block.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { capture } from '../../../stages/capture/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { searchRanges } from '../../../stages/search-ranges/stage.js';
import { failureOf } from '../../support/error-code.js';
import { runModel } from '../../support/look-at-model.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { randomConstants, randomFloats, smallModel } from '../../support/small-model.js';
import { storingMemo } from '../../support/storing-memo.js';

const IMAGE = [1, 3, 8, 8];
const SEEDS = [10, 11, 12];

/** One element in a hundred is eight times larger: ranges without them are better. */
function sampleOf(seed: number) {
  const sample = randomFloats(IMAGE, seed);
  const data = sample.data as Float32Array;
  for (let i = seed; i < data.length; i += 97) data[i] = 8 * (data[i] ?? 0);
  return sample;
}

const folder = givenFolder('search-ranges');
const memo = storingMemo(folder);
let inputs: Record<string, string>;
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  await mkdir(at('tensors'));
  const float = smallModel({
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
  await writeModel(at('float.onnx'), float);
  for (const seed of SEEDS) await writeFile(at(`tensors/${seed}.npz`), encodeNpz(new Map([['x', sampleOf(seed)]])));
  const captured = await runStage(capture, {
    params: { of: 'model' },
    inputs: { model: at('float.onnx'), tensors: at('tensors') },
    folder: folder.path,
  });
  inputs = { model: at('float.onnx'), captured: captured.outputs.captured ?? '' };
  const { outputs } = await runStage(calibrate, { params: {}, inputs, folder: folder.path });
  inputs.sketches = outputs.sketches ?? '';
});
beforeEach(() => memo.forget());

async function run(params: JsonObject = {}, more: Partial<Parameters<typeof runStage>[1]> = {}) {
  const { outputs, log } = await runStage(searchRanges, { params, inputs, folder: folder.path, memo: memo.memo, ...more });
  const report = (await readJsonFile(outputs.report ?? '')) as RangeSearchReport;
  return { overrides: outputs.overrides ?? '', report, log };
}

/** SQNR in dB of the output behind `quantize` with the overrides, by ONNX Runtime. */
async function sqnrOf(params: JsonObject, overrides?: string): Promise<number> {
  const { outputs } = await runStage(quantize, {
    params,
    inputs: { model: inputs.model ?? '', sketches: inputs.sketches ?? '', ...(overrides === undefined ? {} : { overrides }) },
    folder: folder.path,
  });
  let [signal, noise] = [0, 0];
  for (const seed of SEEDS) {
    const feeds = { x: sampleOf(seed) };
    const [float, int8] = [
      await runModel(await readModel(inputs.model ?? ''), feeds),
      await runModel(await readModel(outputs.model ?? ''), feeds),
    ];
    for (const [i, y] of (float.y?.data as Float32Array).entries()) {
      signal += y * y;
      noise += (y - Number(int8.y?.data[i])) ** 2;
    }
  }
  return 10 * Math.log10(signal / noise);
}

const SCALES: readonly (readonly [string, JsonObject])[] = [
  ['float scales', { preset: 'u8s8' }],
  ['scales per channel', { preset: 'a8w8-per-channel' }],
  ['powers of two', { preset: 'xint8' }],
];

it.each(SCALES)('with %s the SQNR of the output rises as the report says', async (_name, params) => {
  const { overrides, report, log } = await run({ quantize: params });
  const [before, after] = [await sqnrOf(params), await sqnrOf(params, overrides)];
  expect(after).toBeGreaterThan(before);
  expect(report.changed).toBeGreaterThan(0);
  expect(report.outputs[0]?.sqnrDb.before).toBeCloseTo(before, 2);
  expect(report.outputs[0]?.sqnrDb.after).toBeCloseTo(after, 2);
  expect(report.blocks.map(({ ends }) => ends)).toEqual([['r1'], ['s'], ['y']]);
  for (const { error, overrides: own } of report.blocks) {
    if (own.length === 0) expect(error.after).toBe(error.before);
    else expect(error.after).toBeLessThan(error.before);
  }
  expect(log[0]).toContain(`changed the ranges of ${report.changed} of`);
});

it('judged by the outputs, the errors of no blocks and of all are those of the outputs, and resume as they were', async () => {
  const params = { quantize: { preset: 'xint8' }, guard: 'outputs' };
  const [{ report, log, overrides }, plain] = [await run(params), await run({ quantize: { preset: 'xint8' } })];
  const shareOf = async (file?: string): Promise<number> => 10 ** (-(await sqnrOf({ preset: 'xint8' }, file)) / 10);
  const { guard } = report;
  // The SQNR of the oracle is compared in dB to 0.01, which is .2 % of a share.
  expect((guard?.error.none.y ?? 0) / (await shareOf())).toBeCloseTo(1, 2);
  expect((guard?.error.all.y ?? 0) / (await shareOf(plain.overrides))).toBeCloseTo(1, 2);
  expect((guard?.error.kept.y ?? 0) / (await shareOf(overrides))).toBeCloseTo(1, 2);
  expect(guard?.changes).toBe(plain.report.blocks.filter(block => block.overrides.length > 0).length);
  expect(report.changed).toBe(((await readJsonFile(overrides)) as { overrides: unknown[] }).overrides.length);
  expect(log[1]).toMatch(/^info: the outputs keep /);
  memo.forget();
  expect((await run(params)).report).toEqual(report);
  expect(memo.computed).toEqual([]);
});

it('the last block has the error of the output: its ends are the outputs of the whole model', async () => {
  const { overrides, report } = await run({ quantize: { preset: 'u8s8' } });
  const last = report.blocks.at(-1);
  // Relative squared error of the only end; ONNX Runtime sums in float32.
  expect(-10 * Math.log10(last?.error.after ?? 0)).toBeCloseTo(await sqnrOf({ preset: 'u8s8' }, overrides), 2);
});

it('no single move of one range lowers the error of the last block further', async () => {
  const params = { preset: 'u8s8' };
  const { overrides, report } = await run({ quantize: params, weights: false, rounds: 5 });
  const own = await sqnrOf(params, overrides);
  const file = (await readJsonFile(overrides)) as unknown as {
    overrides: { tensor: string; set: { ends?: { low: number; high: number } } }[];
  };
  const y = file.overrides.find(({ tensor }) => tensor === 'y');
  expect(report.skipped).toEqual([]);
  // The output alone: a twentieth narrower and wider.
  for (const factor of [0.95, 1.05]) {
    const moved = file.overrides.map(one =>
      one === y ? { ...one, set: { ends: { low: (y.set.ends?.low ?? 0) * factor, high: (y.set.ends?.high ?? 0) * factor } } } : one,
    );
    const path = at(`moved-${factor}.json`);
    await writeFile(path, JSON.stringify({ ...file, overrides: moved }));
    if (y !== undefined) expect(await sqnrOf(params, path)).toBeLessThanOrEqual(own + 1e-6);
  }
});

it('wider types hold in every trial, and are part of the result', async () => {
  const wide = at('wide.json');
  await writeFile(
    wide,
    JSON.stringify({
      format: 'tanren-widened-types/1',
      overrides: [{ tensor: 'r1', set: { dtype: 'uint16', range: 'min-max' } }],
      exclude: { tensors: [], outputs: [] },
      qdqDomain: 'com.microsoft',
    }),
  );
  const params = { preset: 'u8s8' };
  const { overrides, report } = await run({ quantize: params }, { inputs: { ...inputs, overrides: wide } });
  const file = (await readJsonFile(overrides)) as unknown as { qdqDomain: string; overrides: unknown[] };
  expect(file.qdqDomain).toBe('com.microsoft');
  expect(file.overrides[0]).toEqual({ tensor: 'r1', set: { dtype: 'uint16', range: 'min-max' } });
  expect(report.outputs[0]?.sqnrDb.before).toBeCloseTo(await sqnrOf(params, wide), 2);
  expect(report.outputs[0]?.sqnrDb.after).toBeCloseTo(await sqnrOf(params, overrides), 2);
});

it('blocks are kept: a second run computes nothing, and a run that was stopped goes on behind the last one', async () => {
  const params = { quantize: { preset: 'a8w8' } };
  const whole = await run(params, { memo: storingMemo({ path: await mkdtempIn('whole') }).memo });
  const stop = new AbortController();
  const stopped = run(params, { signal: stop.signal, progress: done => (done === 2 ? stop.abort(new Error('stopped')) : undefined) });
  await expect(stopped).rejects.toThrow('stopped');
  expect(memo.computed).toEqual(['search-ranges-of-block', 'search-ranges-of-block']);
  memo.forget();
  const resumed = await run(params);
  expect(memo.computed).toEqual(['search-ranges-of-block', 'search-ranges-outputs', 'search-ranges-outputs']);
  expect(resumed.report).toEqual(whole.report);
  memo.forget();
  expect((await run(params)).report).toEqual(whole.report);
  expect(memo.computed).toEqual([]);
});

async function mkdtempIn(name: string): Promise<string> {
  await mkdir(at(name), { recursive: true });
  return at(name);
}

/** `y` is a function of what two layers compute; calibrated on small inputs, searched on large ones. */
async function runUnlike(name: string, end: { readonly op: string; readonly large: number }, params: JsonObject) {
  await mkdir(at(name));
  const model = at(`${name}/float.onnx`);
  const network = smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: randomConstants({ w1: [8, 3, 1, 1], b1: [8] }),
    nodes: [
      { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['c'] },
      { op: end.op, name: 'end', in: ['c'], out: ['y'] },
    ],
    outputs: ['y'],
  });
  await writeModel(model, network);
  const own: Record<string, string> = {};
  for (const [port, scale] of Object.entries({ small: 1, large: end.large })) {
    const x = randomFloats(IMAGE, 1);
    const tensors = at(`${name}/${port}.npz`);
    await writeFile(tensors, encodeNpz(new Map([['x', { ...x, data: (x.data as Float32Array).map(value => scale * value) }]])));
    const { outputs } = await runStage(capture, { params: { of: 'model' }, inputs: { model, tensors }, folder: folder.path });
    own[port] = outputs.captured ?? '';
  }
  const calibrated = await runStage(calibrate, { params: {}, inputs: { model, captured: own.small ?? '' }, folder: folder.path });
  return run(params, { inputs: { model, captured: own.large ?? '', sketches: calibrated.outputs.sketches ?? '' } });
}

it('a float value that overflows on the samples is named', async () => {
  const failure = await failureOf(() => runUnlike('overflow', { op: 'Exp', large: 1e4 }, {}));
  expect(failure).toMatchObject({ code: 'not-finite', message: expect.stringMatching(/value "y" .* in the float model/) });
});

it('a quantized value that is not finite before the search is named', async () => {
  const failure = await failureOf(() =>
    runUnlike('reciprocal', { op: 'Reciprocal', large: 1 }, { quantize: { exclude: [{ op: 'Reciprocal' }] } }),
  );
  expect(failure).toMatchObject({ code: 'not-finite', message: expect.stringMatching(/value "y" .* in the quantized model/) });
});

it('more samples than were captured are refused', async () => {
  expect((await failureOf(() => run({ samples: 9 }))).code).toBe('too-few-samples');
});
