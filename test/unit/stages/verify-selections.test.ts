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

/** Scores that `tilt` changes, the best four of them, and the rows of a table that belong to them, times the mean of all and `gain`. */
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
  mean = ReduceMean(x)
  scaled = Mul(plain, mean)
  rows = Mul(scaled, gain)
}`;

/** The indices of positive elements: their number depends on the data. `form` is that of the output. */
const positive = (limit: number, form = '-1, 1'): string =>
  `${HEAD}
g (float[1, ${COUNT}] x) => (float[K, 1] found) <float limit = {${limit}}, int64[1] at = {1}, int64[1] two = {2}, int64[2] column = {${form}}, int64[1] flat = {-1}> {
  above = Greater(x, limit)
  places = NonZero(above)
  columns = Slice(places, at, two)
  line = Reshape(x, flat)
  index = Reshape(columns, flat)
  values = Gather(line, index)
  found = Reshape(values, column)
}`;

/** The places of positive elements too, as an output of positions alone. */
const placed = (limit: number): string =>
  positive(limit).replace('(float[K, 1] found)', '(float[K, 1] found, float[K] place)').replace(/\}$/, '  place = Cast<to = 1>(index)\n}');

/** Of ten classes per pixel, that of the largest score, as an output of floats. */
const classes = (shift: number): string => `${HEAD}
g (float[1, ${COUNT}] x) => (float[1, ${COUNT}] classes) <int64[3] form = {1, 1, ${COUNT}}, float[1, 10, 1] centers = {${Array.from({ length: 10 }, (_, index) => 0.5 + (index + shift) / 16).join(', ')}}> {
  wide = Reshape(x, form)
  off = Sub(wide, centers)
  distance = Abs(off)
  found = ArgMin<axis = 1, keepdims = 0>(distance)
  classes = Cast<to = 1>(found)
}`;

/** The entry of a code book that is the nearest, and a layer behind it. */
const codes = (shift: number, gain: number): string =>
  classes(shift)
    .replace(
      ') => (float[1, 40] classes) <',
      `) => (float[40, 1] y) <int64[1] flat = {-1}, float[10, 2] book = {${Array.from({ length: 20 }, (_, index) => (index * 7) % 11).join(', ')}}, float[2, 1] weight = {${gain}, ${gain}}, `,
    )
    .replace(/classes = Cast.*/, 'index = Reshape(found, flat)\n  code = Gather(book, index)\n  y = MatMul(code, weight)');

/** The mean of the best elements, by positions in a form that fits `count` of them. */
const meanOfBest = (count: number): string => `${HEAD}
g (float[1, ${COUNT}] x) => (float[1, 1] mean, int64[1, ${count}] positions) <int64[1] k = {${count}}, int64[2] form = {${count}, -1}, int64[1] flat = {-1}> {
  best, positions = TopK<axis = 1>(x, k)
  lanes = Reshape(positions, form)
  line = Reshape(x, flat)
  taken = Gather(line, lanes)
  mean = ReduceMean<axes = [0, 1], keepdims = 1>(taken)
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

  it('fails if shapes differ and the candidate cannot take the positions of the reference', async () => {
    const failure = await failureOf(() => run(positive(0.9), positive(0.95, '11, 1'), { thresholds: { minSqnrDb: 40 } }));
    expect(failure).toMatchObject({
      code: 'part-values',
      message: expect.stringContaining('value "found" is [14, 1] in the reference, but [11, 1] in the candidate'),
    });
  });

  it('fails if shapes differ with equal selections too', async () => {
    const failure = await failureOf(() => run(positive(0.9), positive(0.9, '1, -1')));
    expect(failure).toMatchObject({ code: 'part-values', message: expect.stringContaining('[14, 1]') });
  });

  it('compares positions beside what is computed at them, and fails with positions alone, where shapes differ', async () => {
    const { metrics } = await run(placed(0.9), placed(0.95));
    expect(metrics).toMatchObject({ values: { found: { sqnrDb: 'equal' }, place: { sqnrDb: 'equal' } } });
    const alone = (limit: number) => placed(limit).replace('float[K, 1] found, ', '');
    expect((await failureOf(() => run(alone(0.9), alone(0.95)))).code).toBe('part-values');
    // Of equal shapes, they are compared as each side computes them.
    const same = await run(placed(0.9), placed(0.9));
    expect(same.metrics).toMatchObject({ values: { place: { sqnrDb: 'equal' } } });
    expect((same.metrics.selected as JsonObject).values).not.toHaveProperty('place');
  });

  it('judges an output of positions alone by what each side selects', async () => {
    // Off by three classes of ten: with equal positions, both would be equal.
    const given = { thresholds: { minSqnrDb: 20 }, selection: 'reference' };
    const failure = await failureOf(() => run(classes(0), classes(3), given));
    expect(failure).toMatchObject({ code: 'verify-missed', message: expect.stringContaining('classes: SQNR') });
    const { metrics } = await run(classes(0), classes(0.5), { thresholds: { minSqnrDb: -10 } });
    expect(metrics).toMatchObject({ selected: { values: {}, commonShare: expect.any(Number) } });
    const { values, selected } = metrics as { values: Record<string, JsonObject>; selected: { worst: JsonObject } };
    expect(selected.worst.sqnrDb).toBe(values.classes?.sqnrDb);
  });

  it('compares what a layer computes of positions with equal positions', async () => {
    const { metrics } = await run(codes(0, 1), codes(0.5, 1.01), { selection: 'reference' });
    expect(metrics).toMatchObject({ values: { y: { sqnrDb: expect.closeTo(40, 3) } } });
  });

  it('accepts few equal elements if a bound is stated for what is behind them', async () => {
    for (const minSqnrDb of [{ found: 0 }, { default: 0 }, 0]) {
      const { report } = await run(positive(0.4), positive(1.08), { thresholds: { minSqnrDb } });
      expect(report.selections).toMatchObject([{ selections: [{ selected: 40, common: 2, outputs: ['found'] }] }]);
    }
  });

  it('compares as each side computes if ONNX Runtime refuses the candidate with the positions as an input', async () => {
    const { metrics } = await run(meanOfBest(4), meanOfBest(3));
    expect(metrics).toMatchObject({ values: { mean: { sqnrDb: expect.any(Number) } } });
    expect(metrics.selected).toBeUndefined();
  });

  it('has no such figures where nothing is selected', async () => {
    const scaled = (by: number) => `${HEAD} g (float[1, ${COUNT}] x) => (float[1, ${COUNT}] y) <float by = {${by}}> { y = Mul(x, by) }`;
    const { metrics, report } = await run(scaled(1), scaled(1.5), { thresholds: { minSqnrDb: 0 } });
    expect([metrics.selected, report.selections]).toEqual([undefined, undefined]);
  });
});
