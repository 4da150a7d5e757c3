/** The stage `correct-biases` on a quantized network of three layers: what it writes, what it keeps, and how it resumes. */
import { readFile } from 'node:fs/promises';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
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

/** Two branches of one layer each: the correction of `one` lowers the error of its output; that of `two` lowers the error of the layer, but not of its maximum. */
async function writeBranches(): Promise<void> {
  const branches = (first: number, scale: number, second: number) =>
    smallModel({
      inputs: { x: ['float32', IMAGE] },
      constants: {
        w1: encodeRawTensor(makeTensor('float32', [1, 3, 1, 1], Float32Array.of(1, 0, 0))),
        b1: encodeRawTensor(makeTensor('float32', [1], Float32Array.of(first))),
        w2: encodeRawTensor(makeTensor('float32', [1, 3, 1, 1], Float32Array.of(scale, 0, 0))),
        b2: encodeRawTensor(makeTensor('float32', [1], Float32Array.of(second))),
      },
      nodes: [
        { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['a'] },
        { op: 'Conv', name: 'two', in: ['x', 'w2', 'b2'], out: ['c'] },
        { op: 'GlobalMaxPool', in: ['c'], out: ['b'] },
      ],
      outputs: ['a', 'b'],
    });
  await writeModel(at('branches.onnx'), branches(0, 1, 0));
  await writeModel(at('branches-int8.onnx'), branches(0.5, 0.9, 0.05));
}

/** Noise relative to signal over the captured samples, by ONNX Runtime. */
async function shareOf(output: string, path: string): Promise<number> {
  const sums = { noise: 0, signal: 0 };
  for (const seed of [10, 11, 12]) {
    const feeds = { x: randomFloats(IMAGE, seed) };
    const own = (await runModel(await readModel(at('branches.onnx')), feeds))[output]?.data as Float32Array;
    const other = (await runModel(await readModel(path), feeds))[output]?.data as Float32Array;
    own.forEach((y, i) => {
      sums.signal += y * y;
      sums.noise += (y - (other[i] ?? 0)) ** 2;
    });
  }
  return sums.noise / sums.signal;
}

it('judged by the outputs, a correction that makes them worse is taken back', async () => {
  await writeBranches();
  const files = { float: 'branches.onnx', model: 'branches-int8.onnx' };
  const all = await run({}, { files });
  expect(all.report).toMatchObject({ corrected: 2, layers: [{ result: 'corrected' }, { result: 'corrected' }] });
  expect(all.report).not.toHaveProperty('guard');
  expect(await shareOf('b', all.path)).toBeGreaterThan(2 * (await shareOf('b', at('branches-int8.onnx'))));

  const { path, report, log } = await run({ guard: 'outputs' }, { files });
  expect(report).toMatchObject({
    corrected: 1,
    layers: [
      { node: 'one', result: 'corrected' },
      { node: 'two', result: 'taken-back' },
    ],
    guard: { samples: 3, changes: 2, kept: 1, trials: [{ changes: 0 }, { changes: 1 }, { changes: 2 }] },
  });
  const { error } = report.guard as { error: Record<'none' | 'all' | 'kept', Record<string, number>> };
  // Sums in double on both sides; ONNX Runtime computes the same floats.
  for (const [what, file] of [
    ['none', at('branches-int8.onnx')],
    ['all', all.path],
    ['kept', path],
  ] as const)
    for (const output of ['a', 'b']) expect(error[what][output]).toBeCloseTo(await shareOf(output, file), 9);
  expect(log).toContainEqual(expect.stringMatching(/^info: the outputs keep the first 1 of 2 changed layers: /));
  const bias = async (file: string) => [...(await readModel(file)).graph.values.values()].find(({ name }) => name === 'b2')?.constant;
  expect(await bias(path)).toEqual(await bias(at('branches-int8.onnx')));
});

it('trials are kept: a run that was stopped among them goes on behind the last one', async () => {
  await writeBranches();
  const files = { float: 'branches.onnx', model: 'branches-int8.onnx' };
  const whole = await run({ guard: 'outputs' }, { files });
  const stop = new AbortController();
  const { memo, computed, forget } = stage.memo();
  const progress = (done: number, _total: number, what: string) => {
    if (what === 'trials' && done === 1) stop.abort(new Error('stopped'));
  };
  await expect(run({ guard: 'outputs' }, { files, memo, signal: stop.signal, progress })).rejects.toThrow('stopped');
  expect(computed.filter(name => name === 'correct-biases-guard')).toHaveLength(1);
  forget();
  const resumed = await run({ guard: 'outputs' }, { files, memo });
  expect(stage.memo().computed.filter(name => name === 'correct-biases-guard')).toHaveLength(2);
  expect(stage.memo().computed).not.toContain('correct-bias-of-layer');
  expect(resumed.model.equals(whole.model)).toBe(true);
  expect(resumed.report).toEqual(whole.report);
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
