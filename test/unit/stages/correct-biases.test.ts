/** The stage `correct-biases` on a quantized network of three layers: what it writes, what it keeps, and how it resumes. */
import { readFile } from 'node:fs/promises';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { correctBiases } from '../../../stages/correct-biases/stage.js';
import { IMAGE, LAYERS } from '../../support/coarse-network.js';
import { expectToResume, refusalOf, useCoarseStage } from '../../support/coarse-stage.js';
import { runModel } from '../../support/look-at-model.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { randomConstants, randomFloats, smallModel } from '../../support/small-model.js';

const stage = useCoarseStage(correctBiases);
const { at, run } = stage;

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
  await expectToResume(stage, 'correct-bias-of-layer', 'correct-biases-outputs');
});

it('fewer samples correct by those alone', async () => {
  const [one, all] = [await run({ samples: 1 }), await run()];
  expect(one.report.samples).toBe(1);
  expect(one.model.equals(all.model)).toBe(false);
});

it('a model without biases stays as it is, with a warning', async () => {
  const nodes = [{ op: 'Conv', name: 'one', in: ['x', 'w'], out: ['y'] }];
  const float = smallModel({ inputs: { x: ['float32', IMAGE] }, constants: randomConstants({ w: [8, 3, 3, 3] }), nodes, outputs: ['y'] });
  await writeModel(at('plain.onnx'), float);
  await writeModel(at('plain-int8.onnx'), await quantizeOn(float, { x: randomFloats(IMAGE, 10) }, PRESETS.u8s8));
  const { model, report, log } = await run({}, { files: { float: 'plain.onnx', model: 'plain-int8.onnx' } });
  expect(model.equals(await readFile(at('plain-int8.onnx')))).toBe(true);
  expect(report).toMatchObject({ corrected: 0, layers: [], skipped: [{ node: 'one', reason: 'it has no bias' }] });
  expect(log[0]).toBe(
    'warning: no layer has a bias that can be corrected (Conv "one": it has no bias): the model stays as it is, and the stage can be removed',
  );
});

it.each([
  ['a float model without the layers of the quantized one', { float: 'relu.onnx' }, {}, 'nothing-to-correct'],
  ['more samples than were captured', {}, { samples: 4 }, 'too-few-samples'],
  ['a part that was not captured', {}, { part: 'neck' }, 'part-unknown'],
])('%s is refused', async (_name, files, params, code) => {
  expect(await refusalOf(stage, files, params)).toBe(code);
});
