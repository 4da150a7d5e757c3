/** The stage `sensitivity` on a quantized network of three layers: what it reports, what it keeps, and how it resumes. */
import type { JsonObject } from '../../../src/base/json.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { costOf, parseSensitivityReport } from '../../../src/quant/sensitivity/report-schema.js';
import { sensitivity } from '../../../stages/sensitivity/stage.js';
import { IMAGE } from '../../support/coarse-network.js';
import { refusalOf, useCoarseStage } from '../../support/coarse-stage.js';
import { runModel } from '../../support/look-at-model.js';
import { randomFloats } from '../../support/small-model.js';

const stage = useCoarseStage(sensitivity);
const { at, memo, stopAfter } = stage;

async function run(...request: [JsonObject?, Parameters<typeof stage.run>[1]?]) {
  const { report, log } = await stage.run(...request);
  return { report: parseSensitivityReport(report), log };
}

/** Σ x² and Σ error² of the output over the captured samples, by ONNX Runtime. */
async function outputError(): Promise<{ readonly signal: number; readonly noise: number }> {
  const sums = { signal: 0, noise: 0 };
  const [float, int8] = [await readModel(at('float.onnx')), await readModel(at('int8.onnx'))];
  for (const seed of [10, 11, 12]) {
    const feeds = { x: randomFloats(IMAGE, seed) };
    const [own, other] = [(await runModel(float, feeds)).y, (await runModel(int8, feeds)).y];
    for (const [i, y] of (own?.data as Float32Array).entries()) {
      sums.signal += y * y;
      sums.noise += (Number(other?.data[i]) - y) ** 2;
    }
  }
  return sums;
}

it('every layer has its share and its exact cost, the most expensive comes first, and the outputs have the error that they have', async () => {
  const { report, log } = await run();
  const { signal, noise } = await outputError();
  expect(report.outputs).toEqual([
    { name: 'y', noise: expect.closeTo(noise, 9), sqnrDb: expect.closeTo(10 * Math.log10(signal / noise), 9) },
  ]);
  expect(report.layers.map(({ values }) => values[0]).sort()).toEqual(['r1', 'r2', 'x', 'y']);
  expect(report.layers.find(({ values }) => values[0] === 'r1')?.nodes).toEqual([
    { name: 'one', opType: 'Conv' },
    { name: 'r1', opType: 'Relu' },
  ]);
  const costs = report.layers.map(costOf);
  expect(costs).toEqual([...costs].sort((a, b) => b - a));
  expect(report.layers.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
  // The weights have 3 to 4 bits, and the input has 8.
  expect(report.layers.at(-1)?.values).toEqual(['x']);
  for (const { alone } of report.layers) expect(alone?.cost).toBeCloseTo(1 - (alone?.outputs[0]?.noise ?? 0) / noise, 9);
  expect(log).toEqual([expect.stringMatching(/^info: output "y": SQNR \d+\.\d dB$/)]);
});

it('exact costs are kept per layer: more of them measure only the new ones, and a stopped run goes on behind the last', async () => {
  await expect(run({ exact: 3 }, stopAfter(2))).rejects.toThrow('stopped');
  expect(memo().computed).toEqual(['sensitivity-errors', ...Array<string>(3).fill('sensitivity-of-layer')]);
  memo().forget();
  await run({ exact: 3 }, { memo: memo().memo });
  expect(memo().computed).toEqual(['sensitivity-of-layer']);
  memo().forget();
  const { report } = await run({ exact: 4 }, { memo: memo().memo });
  expect(memo().computed).toEqual(['sensitivity-of-layer']);
  expect(report).toEqual((await run()).report);
});

it('only as many layers as asked for have an exact cost, those with the largest shares', async () => {
  const { report } = await run({ exact: 1, samples: 1 });
  expect(report.samples).toBe(1);
  const shares = report.layers.map(({ share }) => share);
  expect(report.layers.filter(({ alone }) => alone !== undefined).map(({ share }) => share)).toEqual([Math.max(...shares)]);
});

it.each([
  ['a float model in place of the quantized one', { model: 'float.onnx' }, {}, 'nothing-quantized'],
  ['a float model with another number of outputs', { float: 'relu.onnx' }, {}, 'layers-differ'],
  ['more samples than were captured', {}, { samples: 4 }, 'too-few-samples'],
])('%s is refused', async (_name, files, params, code) => {
  expect(await refusalOf(stage, files, params, ['y', 'z'])).toBe(code);
});
