/** The structure, counts and order of the figures of `bench`. Durations depend on the machine and are not checked. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { readJsonShape } from '../../../src/base/json/json-shape.js';
import type { JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import type { CaptureIndex } from '../../../src/runtime/capture/capture-index.js';
import { type BenchReport, readBenchReport } from '../../../src/runtime/measure/bench-report.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { chooseCounts, meanOverImages } from '../../../stages/bench/row-counts.js';
import { bench } from '../../../stages/bench/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { CPU_RUNNER } from '../../support/runner-host.js';
import { exportShapes } from '../../support/shapes.js';

const folder = givenFolder('bench');
const at = (name: string): string => join(folder.path, name);
beforeAll(async () => {
  await writeModel(at('fixed.onnx'), parseModelText('agraph (float[1, 8] x) => (float[1, 8] y) { y = Sigmoid(x) }'));
  await writeModel(at('head.onnx'), parseModelText('agraph (float[N, 8] x) => (float[N, 8] y) { a = Sigmoid(x)  y = Mul(a, x) }'));
});

function readReport(json: JsonObject): BenchReport {
  const read = readJsonShape(readBenchReport, json);
  if (read.kind === 'ok') return read.value;
  throw new Error(JSON.stringify(read.problems));
}

async function run(
  params: JsonObject,
  inputs: Record<string, Record<string, string> | string>,
): Promise<{ report: BenchReport; metrics: JsonObject; log: readonly string[] }> {
  const { outputs, log } = await runStage(bench, { params: { warmup: 1, repeats: 4, ...params }, inputs, folder: folder.path });
  const read = async (port: string): Promise<unknown> => JSON.parse(await readFile(outputs[port] ?? '', 'utf8'));
  return { report: (await read('report')) as BenchReport, metrics: (await read('metrics')) as JsonObject, log };
}

describe('a model with a fixed batch', () => {
  it('is timed as a whole, in float and int8', async () => {
    const { report, metrics } = await run({}, { float: { net: at('fixed.onnx') }, int8: { net: at('fixed.onnx') } });
    const [part] = report.parts;

    expect(part).toMatchObject({ part: 'net', fed: 'random', counts: [], forms: [{ form: 'float' }, { form: 'int8' }] });
    expect(part?.forms[0]?.rows).toMatchObject([{ strategy: { kind: 'whole' }, counts: [{ calls: 1, padded: 0, here: { repeats: 4 } }] }]);
    expect(part?.forms[0]?.profile).toMatchObject({ runs: 4, operators: [{ opType: 'Sigmoid', nodes: 1, share: 1 }] });
    const { net } = metrics as { net: Record<string, number> };
    expect(metrics).toMatchObject({
      net: { float: { p50Ms: net.floatMs }, int8: { p50Ms: net.int8Ms }, speedup: (net.floatMs ?? 0) / (net.int8Ms ?? 1) },
    });
    const { minMs, p50Ms, p90Ms, p99Ms } = part?.forms[0]?.rows[0]?.counts[0]?.here ?? { minMs: 1, p50Ms: 0, p90Ms: 0, p99Ms: 0 };
    expect(0 < minMs && minMs <= p50Ms && p50Ms <= p90Ms && p90Ms <= p99Ms).toBe(true);
  });
});

describe('a head', () => {
  it('is timed as one batch, in fixed batches, one by one and in parallel', async () => {
    const { report, log } = await run(
      { rois: [3, 10], batches: [1, 4], sessions: 2, operators: false },
      { float: { head: at('head.onnx') } },
    );
    const form = report.parts[0]?.forms[0];

    expect(form?.rows.map(({ strategy, counts }) => ({ strategy, counts: counts.map(({ calls, padded }) => [calls, padded]) }))).toEqual([
      {
        strategy: { kind: 'one-batch' },
        counts: [
          [1, 0],
          [1, 0],
        ],
      },
      {
        strategy: { kind: 'fixed', batch: 1 },
        counts: [
          [3, 0],
          [10, 0],
        ],
      },
      {
        strategy: { kind: 'fixed', batch: 4 },
        counts: [
          [1, 1],
          [3, 2],
        ],
      },
      {
        strategy: { kind: 'parallel', sessions: 2 },
        counts: [
          [2, 0],
          [2, 0],
        ],
      },
    ]);
    const times = form?.rows.map(row => row.perImageMs) ?? [];
    expect(times[form?.best ?? -1]).toBe(Math.min(...times));
    for (const [count, best] of (form?.bestAt ?? []).entries()) {
      const medians = form?.rows.map(row => row.counts[count]?.here.p50Ms ?? 0) ?? [];
      expect(medians[best]).toBe(Math.min(...medians));
    }
    expect(form?.bestAt).toHaveLength(2);
    const ways = ['as one batch', 'one by one', 'in batches of 4', 'in 2 sessions in parallel'];
    // Other programs may disturb the repeats, which the log then says.
    expect(log.filter(line => !line.includes('repeats differ'))).toEqual([
      `info: head, float: fastest ${ways[form?.best ?? -1]}, ${Math.min(...times).toFixed(2)} ms per image`,
    ]);
    expect(form?.profile).toBeUndefined();
  });

  it('without row counts is an error with the param to set', async () => {
    await expect(run({}, { float: { head: at('head.onnx') } })).rejects.toMatchObject({ code: 'no-row-counts' });
  });
});

/** Images with the given RoIs of the part, of which half are kept. */
async function givenCaptured(name: string, seen: readonly number[], input = 'x', part = 'head'): Promise<string> {
  const path = at(name);
  await mkdir(path);
  const samples = seen.map((count, image) => ({ id: `${image}`, rows: Math.ceil(count / 2), seen: count }));
  for (const { id, rows } of samples) {
    const array = makeTensor('float32', [rows, 8], new Float32Array(rows * 8).fill(Number(id)));
    await writeFile(join(path, `${id}.npz`), encodeNpz({ in: array, out: array }));
  }
  const value = { dtype: 'float32', dims: ['rows', 8] } as const;
  const values = [
    { ...value, role: 'input', name: input, array: 'in' },
    { ...value, role: 'output', name: 'y', array: 'out' },
  ] as const;
  const index: CaptureIndex = {
    format: 'tanren-capture',
    version: 1,
    parts: [{ name: part, model: digestBytes(Buffer.from('head')), values }],
    samples: samples.map(({ id, ...counts }) => ({ id, source: `${id}.jpg`, parts: { [part]: { file: `${id}.npz`, ...counts } } })),
  };
  await writeFile(join(path, 'index.json'), JSON.stringify(index));
  return path;
}

describe('a head with captured tensors', () => {
  it('is timed at captured counts, weighted by their images', async () => {
    const captured = await givenCaptured('captured', [4, 0, 20, 20, 6, 5]);
    const { report } = await run({ counts: 2, operators: false, sessions: 0 }, { float: { head: at('head.onnx') }, captured });
    const [part] = report.parts;

    // Without the empty image: 4, 5 | 6, 20, 20 and their medians.
    expect(part).toMatchObject({ fed: 'captured', imagesWithout: 1 });
    expect(part?.counts).toEqual([
      { rows: 5, images: 3 },
      { rows: 20, images: 2 },
    ]);
    const [oneBatch] = part?.forms[0]?.rows ?? [];
    const [few = 0, many = 0] = oneBatch?.counts.map(({ here }) => here.p50Ms) ?? [];
    expect(oneBatch?.perImageMs).toBeCloseTo((3 * few + 2 * many) / 5, 12);
  });

  it('with a fixed batch is timed at captured counts in padded batches of that size', async () => {
    await writeModel(at('four.onnx'), parseModelText('agraph (float[4, 8] x) => (float[4, 8] y) { y = Sigmoid(x) }'));
    const captured = await givenCaptured('captured-four', [4, 0, 20, 20, 6, 5]);
    const { report, metrics } = await run({ counts: 2 }, { float: { head: at('four.onnx') }, int8: { head: at('head.onnx') }, captured });
    const [part] = report.parts;

    const waysOf = (form: number) =>
      part?.forms[form]?.rows.map(({ strategy, counts }) => [strategy, counts.map(one => [one.calls, one.padded])]);
    expect(waysOf(0)).toEqual([
      [
        { kind: 'fixed', batch: 4 },
        [
          [2, 3],
          [5, 0],
        ],
      ],
    ]);
    expect(waysOf(1)?.[0]).toEqual([
      { kind: 'one-batch' },
      [
        [1, 0],
        [1, 0],
      ],
    ]);
    expect(part?.counts.map(({ rows }) => rows)).toEqual([5, 20]);
    expect(part?.forms[0]?.profile).toMatchObject({ runs: 4, operators: [{ opType: 'Sigmoid', nodes: 1 }] });
    expect(metrics).toMatchObject({ head: { floatBestMs: part?.forms[0]?.rows[0]?.perImageMs } });
  });

  it('with other input names is refused', async () => {
    const captured = await givenCaptured('other', [4], 'z');
    await expect(run({}, { float: { head: at('head.onnx') }, captured })).rejects.toMatchObject({ code: 'sample-mismatch' });
  });
});

describe('a head on tiles', () => {
  const GRID = [2, 3] as const;
  /** Rows of 8 are tiles of 2 × 2 with two channels; the part of the recipe is "head" of a captured detector. */
  async function givenTiles(channels = 2): Promise<{ readonly recipe: string; readonly model: string }> {
    const canvas = { channels, tile: [2, 2], pitch: [3, 3] };
    const step = { model: 'box_head_tiles', grid: GRID, inputs: [{ name: 'x', ...canvas }], outputs: [{ name: 'y', ...canvas }] };
    const tiles = { box_head: { steps: [{ ...step, masks: [{ name: 'mask', ...canvas }] }] } };
    await writeFile(at('tiles.json'), JSON.stringify({ ...(await exportShapes()).recipe, tiles }));
    const size = `float[1, ${channels}, 5, 8]`;
    await writeModel(at('tiles.onnx'), parseModelText(`agraph (${size} x, ${size} mask) => (${size} y) { y = Mul(x, mask) }`));
    return { recipe: at('tiles.json'), model: at('tiles.onnx') };
  }

  it('is timed with a call per canvas, the last partly filled, at the counts of its part', async () => {
    const { recipe, model } = await givenTiles();
    const captured = await givenCaptured('captured-tiles', [4, 0, 20, 20, 6, 5], 'x', 'box_head');
    const { report, log } = await run({ counts: 2 }, { int8: { box_head_tiles: model }, captured, recipe });
    const [part] = report.parts;
    expect(part).toMatchObject({ part: 'box_head_tiles', fed: 'captured', imagesWithout: 1 });
    expect(part?.counts.map(({ rows }) => rows)).toEqual([5, 20]);
    expect(part?.forms[0]?.rows.map(({ strategy, counts }) => [strategy, counts.map(one => [one.calls, one.padded])])).toEqual([
      [
        { kind: 'tiles', tiles: 6 },
        [
          [1, 1],
          [4, 4],
        ],
      ],
    ]);
    expect(part?.forms[0]?.profile).toMatchObject({ operators: [{ opType: 'Mul', nodes: 1 }] });
    expect(log[0]).toMatch(/^info: box_head_tiles, int8: fastest on 6 tiles, /);
    expect(readReport(JSON.parse(JSON.stringify(report))).parts[0]?.forms[0]?.rows[0]?.strategy).toEqual({ kind: 'tiles', tiles: 6 });
  });

  it('is timed on random rows at given counts, and refused without counts or with captured rows of another size', async () => {
    const { recipe, model } = await givenTiles();
    const { report } = await run({ rois: [13], operators: false }, { int8: { box_head_tiles: model }, recipe });
    expect(report.parts[0]).toMatchObject({ fed: 'random', forms: [{ rows: [{ counts: [{ calls: 3, padded: 5 }] }] }] });
    expect((await failureOf(() => run({}, { int8: { box_head_tiles: model }, recipe }))).code).toBe('no-row-counts');
    const captured = await givenCaptured('captured-other-tiles', [4], 'x', 'box_head');
    const other = await givenTiles(3);
    const failure = await failureOf(() => run({}, { int8: { box_head_tiles: other.model }, captured, recipe: other.recipe }));
    expect(failure.code).toBe('capture-mismatch');
    expect(failure.message).toBe('part "box_head": the captured "x" is float32 with 8 elements per RoI, a tile takes 12 of float32');
  });
});

describe('a model with free sizes', () => {
  it('other than the batch is an error with help', async () => {
    await writeModel(at('free.onnx'), parseModelText('agraph (float[1, 3, H, W] x) => (float[1, 3, H, W] y) { y = Relu(x) }'));
    await expect(run({}, { float: { net: at('free.onnx') } })).rejects.toMatchObject({ code: 'free-size' });
  });

  it('gets its other inputs unchanged', async () => {
    await writeModel(at('two.onnx'), parseModelText('agraph (float[N, 8] x, float[8] b) => (float[N, 8] y) { y = Add(x, b) }'));
    const { report } = await run({ rois: [3], batches: [2], sessions: 2, operators: false }, { float: { head: at('two.onnx') } });
    expect(report.parts[0]?.forms[0]?.rows.map(({ strategy }) => strategy.kind)).toEqual(['one-batch', 'fixed', 'parallel']);
  });
});

it('with an external runner reports durations of both clocks, and the placement of operators', async () => {
  const external = { command: [process.execPath, CPU_RUNNER], device: 'cpu', label: 'board' };
  const { report } = await run({ runner: 'external', external, rois: [6], batches: [4] }, { float: { head: at('head.onnx') } });
  const form = report.parts[0]?.forms[0];

  expect(report.where).toMatchObject({ runner: 'external', label: 'board', identity: { provider: 'CPUExecutionProvider' } });
  expect(form?.placement).toMatchObject([{ device: 'cpu' }]);
  expect(form?.rows.map(({ strategy }) => strategy)).toEqual([{ kind: 'one-batch' }, { kind: 'fixed', batch: 4 }]);
  for (const row of form?.rows ?? []) {
    const [{ here, device } = { here: undefined, device: undefined }] = row.counts;
    expect(row.perImageMs).toBe(device?.p50Ms);
    expect(device?.minMs).toBeLessThan(here?.minMs ?? 0);
  }
  expect(form?.profile).toBeUndefined();
});

it('without models is an error', async () => {
  await expect(run({}, {})).rejects.toMatchObject({ code: 'no-models' });
});

describe('chooseCounts', () => {
  it('uses the medians of equal shares, and merges equal values', () => {
    expect(chooseCounts([9, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([
      { rows: 2, images: 3 },
      { rows: 5, images: 3 },
      { rows: 8, images: 3 },
    ]);
    expect(chooseCounts([5, 5, 5, 0, 7], 2)).toEqual([{ rows: 5, images: 4 }]);
    expect(chooseCounts([4, 6], 5)).toEqual([
      { rows: 4, images: 1 },
      { rows: 6, images: 1 },
    ]);
    expect(chooseCounts([0, 0], 3)).toEqual([]);
  });

  it('represents all images with rows', () => {
    const counts = chooseCounts([3, 8, 2, 9, 9, 4, 1], 3);
    expect(counts.reduce((sum, { images }) => sum + images, 0)).toBe(7);
    expect(
      meanOverImages(
        [
          { rows: 1, images: 3 },
          { rows: 2, images: 1 },
        ],
        index => [10, 50][index] ?? 0,
      ),
    ).toBe(20);
  });
});

describe('figures of a board', () => {
  const latency = { repeats: 4, minMs: 1, meanMs: 2, stdMs: 0.5, p50Ms: 2, p90Ms: 3, p99Ms: 4 };
  const row = { strategy: { kind: 'whole' }, counts: [{ calls: 1, padded: 0, here: latency }], perImageMs: 9 };
  const measured = {
    format: 'tanren-bench/1',
    where: { runner: 'bundle' },
    warmup: 1,
    repeats: 4,
    parts: [{ part: 'head', fed: 'golden', counts: [], imagesWithout: 0, forms: [{ form: 'int8', rows: [row], best: 0, bestAt: [0] }] }],
    detector: { images: 4, steps: { total: latency }, models: { head: { ...latency, p50Ms: 9 } } },
  };
  const place = async (value: unknown): Promise<string> => {
    await writeFile(at('measured.json'), JSON.stringify(value));
    return at('measured.json');
  };

  it('are passed on as they were measured, with metrics', async () => {
    const { report, metrics } = await run({}, { measured: await place(measured) });
    expect(report).toEqual(measured);
    expect(metrics).toEqual({
      head: { int8Ms: 2, int8BestMs: 9, int8: { minMs: 1, meanMs: 2, stdMs: 0.5, p50Ms: 2, p90Ms: 3, p99Ms: 4 } },
      perImage: { total: 2 },
    });
    expect(readReport(report as unknown as JsonObject).parts).toHaveLength(1);
  });

  it('have no time per image of a model that the detector did not run', async () => {
    const { models: _models, ...detector } = measured.detector;
    expect((await run({}, { measured: await place({ ...measured, detector }) })).metrics).toMatchObject({ head: { int8Ms: 2 } });
    for (const value of [
      { ...measured, detector },
      { ...measured, detector: { ...detector, models: { head_tiles: latency } } },
    ])
      expect((await run({}, { measured: await place(value) })).metrics.head).not.toHaveProperty('int8BestMs');
  });

  it('name the form of a float model, which the CPU of the board ran', async () => {
    const [head] = measured.parts;
    const value = { ...measured, parts: [{ ...head, forms: (head?.forms ?? []).map(form => ({ ...form, form: 'float' })) }] };
    const { metrics } = await run({}, { measured: await place(value) });
    expect(metrics).toMatchObject({ head: { floatMs: 2, floatBestMs: 9, float: { p50Ms: 2 } } });
  });

  it.each([
    ['another format', { ...measured, format: 'tanren-bench/9' }],
    ['a time that is no number', { ...measured, detector: { images: 1, steps: { total: { ...latency, p50Ms: 'fast' } } } }],
    ['no object', []],
  ])('are refused: %s', async (_, value) => {
    const measuredPath = await place(value);
    expect((await failureOf(() => run({}, { measured: measuredPath }))).code).toBe('measured-input');
  });

  it('are refused together with models', async () => {
    const measuredPath = await place(measured);
    const failure = await failureOf(() => run({}, { measured: measuredPath, int8: { net: at('fixed.onnx') } }));
    expect(failure.code).toBe('measured-input');
  });
});
