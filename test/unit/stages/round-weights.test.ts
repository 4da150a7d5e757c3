/** The stage `round-weights` on a quantized network of three layers: what it writes, what it keeps, and how it resumes. */
import type { Constant } from '../../../src/onnx/ir/model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { decodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { roundWeights } from '../../../stages/round-weights/stage.js';
import { IMAGE, LAYERS } from '../../support/coarse-network.js';
import { expectToResume, refusalOf, useCoarseStage } from '../../support/coarse-stage.js';
import { runModel } from '../../support/look-at-model.js';
import { randomFloats } from '../../support/small-model.js';

const stage = useCoarseStage(roundWeights);
const { at, run } = stage;

/** SQNR in dB of the output on the captured samples, by ONNX Runtime. */
async function sqnrOf(path: string): Promise<number> {
  let [signal, noise] = [0, 0];
  for (const seed of [10, 11, 12]) {
    const feeds = { x: randomFloats(IMAGE, seed) };
    const [float, int8] = [await runModel(await readModel(at('float.onnx')), feeds), await runModel(await readModel(path), feeds)];
    for (const [i, y] of (float.y?.data as Float32Array).entries()) {
      signal += y * y;
      noise += (y - Number(int8.y?.data[i])) ** 2;
    }
  }
  return 10 * Math.log10(signal / noise);
}

it('the SQNR of the outputs rises as the report says, with other integers in the weights alone', async () => {
  const { path, report, log } = await run();
  const [before, after] = [await sqnrOf(at('int8.onnx')), await sqnrOf(path)];
  // Random inputs are hardly correlated, so that a weight can make up for little of another's error.
  expect(after).toBeGreaterThan(before + 0.5);
  expect(report).toMatchObject({
    format: 'tanren-weight-roundings/1',
    samples: 3,
    rounded: 3,
    skipped: [],
    layers: LAYERS.map(node => ({ node, result: 'rounded' })),
  });
  const [output] = report.outputs as { name: string; sqnrDb: { before: number; after: number } }[];
  expect(output?.sqnrDb.before).toBeCloseTo(before, 3);
  expect(output?.sqnrDb.after).toBeCloseTo(after, 3);
  expect(log[0]).toBe('info: rounded the weights of 3 of 3 layers');
  const [own, other] = [await readModel(at('int8.onnx')), await readModel(path)];
  const constants = (model: typeof own) =>
    [...model.graph.values.values()].flatMap(({ name, constant }) => (constant === undefined ? [] : [[name, constant] as const]));
  const valuesOf = (constant: Constant): readonly number[] =>
    constant.dtype === 'string' ? [] : Array.from(decodeRawTensor(constant).data as ArrayLike<number>, Number);
  const changed = constants(own).filter(
    ([, constant], index) => JSON.stringify(valuesOf(constant)) !== JSON.stringify(valuesOf(constants(other)[index]?.[1] ?? constant)),
  );
  expect(changed.map(([, { dtype, dims }]) => [dtype, dims.length])).toEqual(LAYERS.map(() => ['int8', 4]));
});

it('by AdaRound, the SQNR of the outputs rises as the report says', async () => {
  const { path, report } = await run({ method: 'adaround' });
  const [before, after] = [await sqnrOf(at('int8.onnx')), await sqnrOf(path)];
  expect(after).toBeGreaterThan(before + 0.5);
  expect(report).toMatchObject({ rounded: 3, layers: LAYERS.map(node => ({ node, result: 'rounded' })) });
  const [output] = report.outputs as { name: string; sqnrDb: { before: number; after: number } }[];
  expect(output?.sqnrDb.after).toBeCloseTo(after, 3);
});

it('AdaRound gives equal bytes when it runs again, and others with other iterations; GPTQ takes no iterations', async () => {
  const adaround = { method: 'adaround' };
  const [one, again, few] = [await run(adaround), await run(adaround), await run({ ...adaround, iterations: 3 })];
  expect(again.model.equals(one.model)).toBe(true);
  expect(few.model.equals(one.model)).toBe(false);
  expect((await run({ iterations: 3 })).model.equals((await run()).model)).toBe(true);
});

it('judged by the outputs, all weights stay where they lower the error, with the bytes of layers alone', async () => {
  const [{ path, model, report }, plain] = [await run({ guard: 'outputs' }), await run()];
  expect(model.equals(plain.model)).toBe(true);
  expect(report).toMatchObject({ rounded: 3, guard: { samples: 3, changes: 3, kept: 3 } });
  const { error } = report.guard as { error: Record<'none' | 'all', { y: number }> };
  expect(-10 * Math.log10(error.none.y)).toBeCloseTo(await sqnrOf(at('int8.onnx')), 3);
  expect(-10 * Math.log10(error.all.y)).toBeCloseTo(await sqnrOf(path), 3);
});

it('layers are kept: a second run computes nothing, and a run that was stopped goes on behind the last one', async () => {
  await expectToResume(stage, 'round-weights-of-layer', 'round-weights-outputs');
});

it('damping and samples count', async () => {
  const [one, all, damped] = [await run({ samples: 1 }), await run(), await run({ damping: 1 })];
  expect(one.report.samples).toBe(1);
  expect(one.model.equals(all.model)).toBe(false);
  expect(damped.model.equals(all.model)).toBe(false);
});

it.each([
  ['a model without quantized layers', { model: 'relu.onnx', float: 'relu.onnx' }, {}, 'nothing-to-round'],
  ['a float model in place of the quantized one', { model: 'float.onnx' }, {}, 'nothing-to-round'],
  ['more samples than were captured', {}, { samples: 4 }, 'too-few-samples'],
  ['a part that was not captured', {}, { part: 'neck' }, 'part-unknown'],
])('%s is refused', async (_name, files, params, code) => {
  expect(await refusalOf(stage, files, params)).toBe(code);
});
