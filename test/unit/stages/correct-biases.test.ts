/** The stage `correct-biases` on a quantized network of three layers: what it writes, what it keeps, and how it resumes. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { correctBiases } from '../../../stages/correct-biases/stage.js';
import { IMAGE, LAYERS, writeCoarseNetwork } from '../../support/coarse-network.js';
import { failureOf } from '../../support/error-code.js';
import { runStage, temporaryFolder } from '../../support/run-stage.js';
import { randomFloats, runModel, smallModel } from '../../support/small-model.js';
import { type StoringMemo, storingMemo } from '../../support/storing-memo.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let memo: StoringMemo;
let inputs: Record<string, string>;
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  folder = await temporaryFolder('correct-biases-stage');
  await mkdir(at('memo'));
  memo = storingMemo(at('memo'));
  inputs = await writeCoarseNetwork(folder.path);
});
afterAll(() => folder.remove());
beforeEach(() => memo.forget());

async function run(params: JsonObject = {}, more: Partial<Parameters<typeof runStage>[1]> = {}) {
  const { outputs, log } = await runStage(correctBiases, { params, inputs, folder: folder.path, ...more });
  const report = JSON.parse(await readFile(outputs.report ?? '', 'utf8')) as JsonObject;
  return { path: outputs.model ?? '', model: await readFile(outputs.model ?? ''), report, log };
}

/** Mean over the positions of the calibrated sample of float minus quantized, per channel of the output, by ONNX Runtime. */
async function meanErrors(path: string): Promise<readonly number[]> {
  const feeds = { x: randomFloats(IMAGE, 10) };
  const [float, int8] = [await runModel(await readModel(at('float.onnx')), feeds), await runModel(await readModel(path), feeds)];
  const [own, other] = [float.y?.data as Float32Array, int8.y?.data as Float32Array];
  const channel = (c: number): number[] => Array.from(own.subarray(64 * c, 64 * (c + 1)), (y, i) => y - Number(other[64 * c + i]));
  return [0, 1, 2, 3].map(c => channel(c).reduce((sum, error) => sum + error, 0) / 64);
}

it('the mean error of the outputs nearly vanishes, and their SQNR rises', async () => {
  const { path, report, log } = await run({ samples: 1 });
  const [before, after] = [await meanErrors(at('int8.onnx')), await meanErrors(path)];
  const largest = (errors: readonly number[]): number => Math.max(...errors.map(Math.abs));
  // What is left is the rounding of the outputs themselves, whose mean over 64 elements is a fraction of their step.
  expect(largest(after)).toBeLessThan(largest(before) / 5);
  expect(report).toMatchObject({
    format: 'tanren-bias-corrections/1',
    samples: 1,
    skipped: [],
    layers: LAYERS.map(node => ({ node, result: 'corrected', saturated: 0 })),
  });
  const [output] = report.outputs as { name: string; sqnrDb: { before: number; after: number } }[];
  expect(output?.sqnrDb.after).toBeGreaterThan(output?.sqnrDb.before ?? Number.POSITIVE_INFINITY);
  expect(log[0]).toBe('info: corrected the biases of 3 of 3 layers');
  expect(log[1]).toMatch(/^info: output "y": SQNR \d+\.\d dB before, \d+\.\d dB after$/);
});

it('layers are kept: a second run computes nothing, and a run that was stopped goes on behind the last one', async () => {
  const whole = await run();
  const stop = new AbortController();
  const progress = (done: number): void => {
    if (done === 2) stop.abort(new Error('stopped'));
  };
  await expect(run({}, { memo: memo.memo, signal: stop.signal, progress })).rejects.toThrow('stopped');
  expect(memo.computed).toEqual(['correct-biases-outputs', 'correct-bias-of-layer', 'correct-bias-of-layer']);
  memo.forget();
  const resumed = await run({}, { memo: memo.memo });
  expect(memo.computed).toEqual(['correct-bias-of-layer', 'correct-biases-outputs']);
  expect(resumed.model.equals(whole.model)).toBe(true);
  expect(resumed.report).toEqual(whole.report);
  memo.forget();
  expect((await run({}, { memo: memo.memo })).model.equals(whole.model)).toBe(true);
  expect(memo.computed).toEqual([]);
});

it('fewer samples correct by those alone', async () => {
  const [one, all] = [await run({ samples: 1 }), await run()];
  expect(one.report.samples).toBe(1);
  expect(one.model.equals(all.model)).toBe(false);
});

it.each([
  ['a model without layers that can be corrected', { model: 'relu.onnx', float: 'relu.onnx' }, {}, 'nothing-to-correct'],
  ['more samples than were captured', {}, { samples: 4 }, 'too-few-samples'],
  ['a part that was not captured', {}, { part: 'neck' }, 'part-unknown'],
])('%s is refused', async (_name, files, params, code) => {
  const relu = smallModel({ inputs: { x: ['float32', IMAGE] }, nodes: [{ op: 'Relu', in: ['x'], out: ['y'] }], outputs: ['y'] });
  await writeModel(at('relu.onnx'), relu);
  const own = { ...inputs, ...Object.fromEntries(Object.entries(files).map(([port, file]) => [port, at(file)])) };
  expect((await failureOf(() => run(params, { inputs: own }))).code).toBe(code);
});
