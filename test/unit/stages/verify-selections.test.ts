/** `verify` of models that select elements by their values: two models that select equal elements in another order compute the same. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { encodeNpy } from '../../../src/tensor/formats/npy.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { verify } from '../../../stages/verify/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const HEAD = '<ir_version: 8, opset_import: ["": 17]>\n';
const COUNT = 40;

/** Scores that `tilt` changes, the best four of them, and the rows of a table that belong to them, times `gain`. */
const topRows = ({
  tilt = {},
  gain = 1,
  rows = COUNT,
}: {
  tilt?: Readonly<Record<number, number>>;
  gain?: number;
  rows?: number;
}): string => `${HEAD}
g (float[1, ${COUNT}] x) => (float[1, 4] best, float[4, 2] rows, float[1, ${COUNT}] scores)
  <float[1, ${COUNT}] tilt = {${Array.from({ length: COUNT }, (_, index) => tilt[index] ?? 0).join(', ')}},
   float gain = {${gain}}, int64[1] four = {4}, int64[1] flat = {4},
   float[${rows}, 2] table = {${Array.from({ length: 2 * rows }, (_, index) => (index * 37) % 101).join(', ')}}>
{
  scores = Add(x, tilt)
  best, positions = TopK<axis = 1>(scores, four)
  lane = Reshape(positions, flat)
  plain = Gather(table, lane)
  rows = Mul(plain, gain)
}`;

/** The indices of positive elements: their number depends on the data. */
const positive = (limit: number): string =>
  `${HEAD}
g (float[1, ${COUNT}] x) => (float[K, 1] found) <float limit = {${limit}}, int64[1] at = {1}, int64[1] two = {2}, int64[2] column = {-1, 1}, int64[1] flat = {-1}> {
  above = Greater(x, limit)
  places = NonZero(above)
  columns = Slice(places, at, two)
  line = Reshape(x, flat)
  index = Reshape(columns, flat)
  values = Gather(line, index)
  found = Reshape(values, column)
}`;

const folder = givenFolder('verify-selections');

/** Scores 0.5, 0.5 + 1/64, …: those at the end are the best. */
async function run(reference: string, candidate: string, params: JsonObject = {}): Promise<{ metrics: JsonObject; report: JsonObject }> {
  const path = (name: string): string => join(folder.path, name);
  await writeModel(path('reference.onnx'), parseModelText(reference));
  await writeModel(path('candidate.onnx'), parseModelText(candidate));
  const x = Float32Array.from({ length: COUNT }, (_, index) => 0.5 + index / 64);
  await writeFile(path('x.npy'), encodeNpy(makeTensor('float32', [1, COUNT], x)));
  const { outputs } = await runStage(verify, {
    params: { reference: 'model', candidate: 'model', samples: 1, ...params },
    inputs: { reference: path('reference.onnx'), candidate: path('candidate.onnx'), tensors: path('x.npy') },
    folder: folder.path,
  });
  const read = async (name: 'metrics' | 'report'): Promise<JsonObject> => (await readJsonFile(outputs[name] ?? '')) as JsonObject;
  return { metrics: await read('metrics'), report: await read('report') };
}

describe('verify, behind a selection', () => {
  // Elements 38 and 39 change places: of the rows, two of four are others.
  const swapped = { 38: 1 / 32 };

  it('compares outputs with the selection of the reference too, and counts what both select', async () => {
    const { metrics, report } = await run(topRows({}), topRows({ tilt: swapped, gain: 1.01 }));
    expect(metrics).toMatchObject({
      values: { rows: { sqnrDb: expect.any(Number) } },
      // A gain of 1.01 is an error of a hundredth, 40 dB; of float32 numbers, to 1e-4 dB.
      selected: { values: { rows: { sqnrDb: expect.closeTo(40, 3) } }, commonShare: 1 },
    });
    expect((metrics.values as Record<string, { sqnrDb: number }>).rows?.sqnrDb).toBeLessThan(20);
    expect(report.selections).toMatchObject([
      { part: 'model', selections: [{ value: 'positions', opType: 'TopK', selected: 4, common: 4 }], values: { best: {}, rows: {} } },
    ]);
  });

  it('takes the values of TopK from the places that the reference selects', async () => {
    const { metrics } = await run(topRows({}), topRows({ tilt: swapped }));
    // By rank, the candidate has 1/64 more in the first place; by place, 1/32 more in the second.
    expect(metrics).toMatchObject({
      values: { best: { maxAbs: expect.closeTo(1 / 64, 6) } },
      selected: { values: { best: { maxAbs: expect.closeTo(1 / 32, 6) }, rows: { sqnrDb: 'equal' } } },
    });
  });

  it('judges the outputs with the selection of the reference only if params say so', async () => {
    const thresholds = { minSqnrDb: { default: 20 } };
    const failure = await failureOf(() => run(topRows({}), topRows({ tilt: swapped }), { thresholds }));
    expect(failure).toMatchObject({ code: 'verify-missed', message: expect.stringContaining('rows: SQNR') });
    const { metrics } = await run(topRows({}), topRows({ tilt: swapped }), { thresholds, selection: 'reference' });
    expect(metrics).toMatchObject({ values: { rows: { sqnrDb: 'equal' } } });
  });

  it('compares outputs whose size depends on the data', async () => {
    const { metrics } = await run(positive(0.9), positive(0.95));
    expect(metrics).toMatchObject({ values: { found: { sqnrDb: 'equal' } }, selected: { commonShare: expect.closeTo(11 / 14, 6) } });
  });

  it('fails if the candidate selects fewer than a tenth of the same elements', async () => {
    const failure = await failureOf(() => run(positive(0.4), positive(1.08)));
    expect(failure).toMatchObject({ code: 'verify-collapsed', message: expect.stringContaining('2 of 40 positions') });
  });

  it('compares as each side computes where the candidate cannot take the positions of the reference', async () => {
    // The candidate selects the first rows, and its table has no others.
    const lifted = { 0: 2, 1: 2, 2: 2, 3: 2 };
    const { metrics } = await run(topRows({}), topRows({ tilt: lifted, rows: 4 }), { thresholds: { minSqnrDb: -100 } });
    expect(metrics.selected).toBeUndefined();
  });

  it('has no such figures where nothing is selected', async () => {
    const scaled = (by: number) => `${HEAD} g (float[1, ${COUNT}] x) => (float[1, ${COUNT}] y) <float by = {${by}}> { y = Mul(x, by) }`;
    const { metrics, report } = await run(scaled(1), scaled(1.5), { thresholds: { minSqnrDb: 0 } });
    expect([metrics.selected, report.selections]).toEqual([undefined, undefined]);
  });
});
