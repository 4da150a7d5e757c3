/** The stage `refit-statistics` on a small network with SiLU: what it writes and logs, that it repeats, and what it refuses. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { rewriteModel } from '../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../src/onnx/rules/target/get-rule.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { REFIT_REPORT_SCHEMA } from '../../../src/quant/refit/refit-report.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { capture } from '../../../stages/capture/stage.js';
import { refitStatistics } from '../../../stages/refit-statistics/stage.js';
import { failureOf } from '../../support/error-code.js';
import { listProblems } from '../../support/look-at-model.js';
import { readAs } from '../../support/read-as.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

const IMAGE = [1, 3, 8, 8];
const network = () =>
  smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: { w1: randomConstant([8, 3, 3, 3], 1), w2: randomConstant([8, 8, 3, 3], 3), w3: randomConstant([4, 8, 1, 1], 5) },
    nodes: [
      { op: 'Conv', name: 'one', in: ['x', 'w1'], out: ['c1'] },
      { op: 'Sigmoid', in: ['c1'], out: ['g1'] },
      { op: 'Mul', in: ['c1', 'g1'], out: ['s1'] },
      { op: 'Conv', name: 'two', in: ['s1', 'w2'], out: ['c2'] },
      { op: 'Sigmoid', in: ['c2'], out: ['g2'] },
      { op: 'Mul', in: ['c2', 'g2'], out: ['s2'] },
      { op: 'Conv', name: 'three', in: ['s2', 'w3'], out: ['y'] },
    ],
    outputs: ['y'],
  });

const folder = givenFolder('refit-stage');
let inputs: Record<string, string>;
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  await mkdir(at('tensors'));
  const model = network();
  await writeModel(at('float.onnx'), model);
  rewriteModel(model, { rules: [{ rule: getRule('silu-hard-swish', undefined), matches: 'any' }], edits: [], check: listProblems });
  await writeModel(at('hard.onnx'), model);
  for (const seed of [10, 11]) {
    const x = randomFloats(IMAGE, seed);
    await writeFile(at(`tensors/${seed}.npz`), encodeNpz(new Map([['x', { ...x, data: x.data.map(value => value / 2) }]])));
  }
  const { outputs } = await runStage(capture, {
    params: { of: 'model' },
    inputs: { model: at('float.onnx'), tensors: at('tensors') },
    folder: folder.path,
  });
  inputs = { model: at('hard.onnx'), reference: at('float.onnx'), captured: outputs.captured ?? '' };
});

async function run(params: JsonObject = {}, more: Partial<Parameters<typeof runStage>[1]> = {}) {
  const { outputs, log } = await runStage(refitStatistics, { params, inputs, folder: folder.path, ...more });
  const report = await readAs(REFIT_REPORT_SCHEMA, outputs.report);
  return { model: await readFile(outputs.model ?? ''), report, log };
}

it('the outputs come closer to the reference, and a second run gives the same bytes', async () => {
  const { model, report, log } = await run();
  expect(report).toMatchObject({
    format: 'tanren-refit-statistics/1',
    samples: 2,
    skipped: [],
    layers: [{ node: 'one', factors: [1, 1] }, { node: 'two', limited: 0 }, { node: 'three' }],
  });
  const [output] = report.outputs;
  expect(output?.sqnrDb.after).toBeGreaterThan((output?.sqnrDb.before ?? Number.NaN) + 1);
  expect(log).toEqual([expect.stringMatching(/^info: output "y": SQNR \d+\.\d dB before, \d+\.\d dB after$/)]);
  expect((await run()).model.equals(model)).toBe(true);
});

it('fewer samples fit to those alone, and a stopped run ends', async () => {
  const { report, model } = await run({ samples: 1 });
  expect(report.samples).toBe(1);
  expect(model.equals((await run()).model)).toBe(false);
  const stop = new AbortController();
  const progress = (done: number): void => {
    if (done === 1) stop.abort(new Error('stopped'));
  };
  await expect(run({}, { signal: stop.signal, progress })).rejects.toThrow('stopped');
});

it.each([
  ['a model without layers', { model: 'relu.onnx' }, {}, 'nothing-to-refit'],
  ['more samples than were captured', {}, { samples: 3 }, 'too-few-samples'],
  ['a part that was not captured', {}, { part: 'neck' }, 'part-unknown'],
])('%s is refused', async (_name, files, params, code) => {
  const relu = smallModel({ inputs: { x: ['float32', IMAGE] }, nodes: [{ op: 'Relu', in: ['x'], out: ['y'] }], outputs: ['y'] });
  await writeModel(at('relu.onnx'), relu);
  const own = { ...inputs, ...Object.fromEntries(Object.entries(files).map(([port, file]) => [port, at(file)])) };
  expect((await failureOf(() => run(params, { inputs: own }))).code).toBe(code);
});
