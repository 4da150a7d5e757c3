/** The stage `compile`: reports, bundles, errors. */
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import type { CompileReport } from '../../../src/target/report/compile-report.js';
import { compile } from '../../../stages/compile/stage.js';
import { failureOf } from '../../support/error-code.js';
import { makeNeck } from '../../support/neck.js';
import { qdqGraph } from '../../support/qdq-graph.js';
import { differingOutputs, runParts, runWhole } from '../../support/run-parts.js';
import { givenFolder, runStage, type StageRun, temporaryFolder } from '../../support/run-stage.js';
import { exportShapes, SHAPES_FOLDER } from '../../support/shapes.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

const folder = givenFolder('compile');

async function place(name: string, model: Model): Promise<string> {
  const path = join(folder.path, `${name}.onnx`);
  await writeModel(path, model);
  return path;
}

const run = (params: JsonObject, inputs: Parameters<typeof runStage>[1]['inputs']): Promise<StageRun> =>
  runStage(compile, { params, inputs, folder: folder.path });

async function reportOf({ outputs }: StageRun): Promise<CompileReport> {
  return (await readJsonFile(outputs.report ?? '')) as unknown as CompileReport;
}

/** The host recipe of the example's Mask R-CNN. */
async function placeRecipe(): Promise<string> {
  const path = join(folder.path, 'recipe.json');
  await writeFile(path, JSON.stringify((await exportShapes()).recipe));
  return path;
}

/** Two Conv with a named batch. */
function makeHead(): Model {
  const graph = qdqGraph();
  graph.input('features', ['rois', 4, 7, 7]);
  graph.constant('w', [4, 4, 1, 1]);
  graph.constant('v', [4, 4, 1, 1]);
  graph.unit('Conv', ['features', 'w'], ['a']);
  graph.unit('Conv', ['a', 'v'], ['b']);
  graph.output('b');
  return graph.build();
}

describe('compile', () => {
  it('reports units, parts and counts, and bundles parts that equal the whole bit for bit', async () => {
    const model = makeNeck();
    const done = await run({ target: 'ryzen-ai' }, { model: await place('neck', model) });
    const { target, models } = await reportOf(done);
    expect(target).toMatchObject({ profile: 'ryzen-ai', device: 'stx-krk', dtype: 'xint8', version: '1.8' });
    expect(models).toMatchObject([{ name: 'model', legal: false, counts: { npuParts: 1, parts: 2 } }]);
    // The MaxPool has no multiply-accumulates.
    const reasons = [expect.stringMatching(/^\d+\.\d % of the multiply-accumulates on the CPU: ConvTranspose "ConvTranspose_up": /)];
    expect(await readJsonFile(done.outputs.metrics ?? '')).toMatchObject({
      model: { npuParts: 1, cpuUnits: 4 },
      total: { npuParts: 1 },
      reasons: { 'model.npuMacShare': reasons, 'total.npuMacShare': reasons },
    });

    const bundle = done.outputs.bundle ?? '';
    const names = models[0]?.parts.map(part => `${part.name}.onnx`) ?? [];
    expect(readdirSync(join(bundle, 'models/model/parts')).sort()).toEqual(names.sort());
    const parts = await Promise.all(names.map(name => readModel(join(bundle, 'models/model/parts', name))));
    const feeds = { image_f: randomFloats([1, 4, 16, 16], 3) };
    expect(differingOutputs(await runWhole(model, feeds, 'basic'), await runParts(parts, feeds, 'basic'))).toEqual([]);
    // The file was IR version 10; every version of Ryzen AI reads 8.
    const whole = await readModel(join(bundle, 'models/model/whole.onnx'));
    expect([whole.irVersion, whole.opsets.get('')]).toEqual([8, 17]);
    expect(differingOutputs(await runWhole(model, feeds, 'basic'), await runWhole(whole, feeds, 'basic'))).toEqual([]);
  });

  it('joins the outputs of a float model where that is asked for, and refuses it for integers', async () => {
    const float = smallModel({
      opset: 17,
      inputs: { x: ['float32', [1, 4, 8, 8]] },
      nodes: [
        { op: 'Sigmoid', in: ['x'], out: ['y'] },
        { op: 'GlobalAveragePool', in: ['x'], out: ['z'] },
      ],
      outputs: ['y', 'z'],
    });
    const model = await place('two', float);
    const done = await run({ target: 'ryzen-ai', dtype: 'bf16', outputs: 'merged' }, { model });
    const manifest = (await readJsonFile(join(done.outputs.bundle ?? '', 'manifest.json'))) as { models: JsonObject[] };
    expect(manifest.models).toMatchObject([
      {
        merged: { name: 'merged_outputs', outputs: [{ name: 'y' }, { name: 'z', dims: [1, 4, 1, 1] }] },
        leastSqnrDb: { y: expect.any(Number) },
      },
    ]);
    const whole = await readModel(join(done.outputs.bundle ?? '', 'models/model/whole.onnx'));
    expect(whole.graph.outputs).toHaveLength(1);
    const separate = await run({ target: 'ryzen-ai', dtype: 'bf16' }, { model });
    expect((await reportOf(separate)).models[0]?.findings).toMatchObject([{ rule: 'several-outputs' }]);
    const neck = await place('neck', makeNeck());
    expect(await failureOf(() => run({ target: 'ryzen-ai', outputs: 'merged' }, { model: neck }))).toMatchObject({ code: 'compile-input' });
  });

  it('puts the detector into the bundle: recipe, config and names of the categories', async () => {
    const recipe = await placeRecipe();
    const models = {
      backbone: await place('b', makeNeck()),
      box_head: await place('c', makeNeck()),
      mask_head: await place('d', makeNeck()),
    };
    const config = join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json');
    const done = await run({ target: 'ryzen-ai', golden: 0 }, { models, recipe, config });
    const detector = await readJsonFile(join(done.outputs.bundle ?? '', 'detector.json'));
    expect(detector).toMatchObject({
      format: 'tanren-bundle-detector/1',
      recipe: await readJsonFile(recipe),
      config: { numClasses: 12 },
      fit: 'static',
      categories: { 1: 'circle', 2: 'square', 4: 'triangle', 7: 'star', 9: 'ring', 11: 'cross' },
    });
  });

  it('says of models between the parts that the host does their work, and takes those on the CPU with free sizes, without golden values', async () => {
    const parts = {
      backbone: await place('b', makeNeck()),
      box_head: await place('c', makeNeck()),
      mask_head: await place('d', makeNeck()),
    };
    const models = { ...parts, to_box: await place('head', makeHead()) };
    const named = await failureOf(async () => run({ target: 'ryzen-ai' }, { models, recipe: await placeRecipe() }));
    expect(named).toMatchObject({ code: 'part-missing', message: expect.stringContaining('the recipe has no part to_box') });
    expect(named).toMatchObject({ help: expect.stringMatching(/; remove to_box: what runs between the parts is the host's work/) });
    const onCpu = await run({ target: 'ryzen-ai', place: { to_box: 'cpu' } }, { models: { to_box: models.to_box } });
    const tiled = await failureOf(async () =>
      run({ target: 'ryzen-ai' }, { models: { ...parts, box_head_tiles: models.to_box }, recipe: await placeRecipe() }),
    );
    expect(tiled).toMatchObject({
      help: expect.stringMatching(/; for box_head_tiles, connect the recipe that `tile-rois` wrote with it$/),
    });
    const manifest = await readJsonFile(join(onCpu.outputs.bundle ?? '', 'manifest.json'));
    expect(manifest).toMatchObject({ models: [{ name: 'to_box', place: 'cpu', golden: [], probes: [] }] });
  });

  it('compiles models by name, pins their sizes, and estimates the calls for the given RoIs in batches that the target runs', async () => {
    const models = { mask_head: await place('mask', makeHead()), box_head: await place('box', makeHead()) };
    const params = { target: 'ryzen-ai', pin: { rois: 1 }, rois: { box_head: [100, 20] }, batches: [1, 8, 16] };
    const done = await run(params, { models });
    const report = await reportOf(done);
    expect(report.models.map(model => model.name)).toEqual(['box_head', 'mask_head']);
    const [box, mask] = report.models;
    expect(box?.parts[0]?.inputs).toMatchObject([{ name: 'features_f', dims: [1, 4, 7, 7] }]);
    expect(box?.estimate.batches?.rows.map(row => [row.batch, row.calls, row.padded])).toEqual([[1, 60, 0]]);
    expect(mask?.estimate.batches).toBeUndefined();
    // The bundle has the compiled models.
    const whole = await readModel(join(done.outputs.bundle ?? '', 'models/box_head/whole.onnx'));
    const [input] = whole.graph.inputs;
    expect(whole.graph.values.get(input ?? (0 as never))?.type).toMatchObject({ dims: [1, 4, 7, 7] });
  });

  it('counts a call per canvas for a head on tiles, and leaves the head that it replaces out of the total time', async () => {
    const canvas = { channels: 4, tile: [7, 7], pitch: [8, 8] };
    const ends = { inputs: [{ name: 'x', ...canvas }], outputs: [{ name: 'y', ...canvas }] };
    const step = { model: 'box_head_tiles', grid: [2, 3], ...ends };
    const recipe = join(folder.path, 'tiles.json');
    await writeFile(recipe, JSON.stringify({ ...(await exportShapes()).recipe, tiles: { box_head: { steps: [step] } } }));
    const models = {
      backbone: await place('b', makeNeck()),
      box_head: await place('c', makeHead()),
      box_head_tiles: await place('t', makeNeck()),
      mask_head: await place('d', makeHead()),
    };
    // 17 calls of 6 tiles serve 100 RoIs, and 4 serve 20.
    const params = { target: 'ryzen-ai', golden: 0, pin: { rois: 1 }, rois: { box_head: [100, 20], mask_head: [4] } };
    const done = await run(params, { models, recipe });
    const { models: reports } = await reportOf(done);
    const [backbone, box, tiled, mask] = reports.map(({ estimate }) => estimate.image);
    expect([backbone, box, tiled, mask].map(image => [image?.tiles, image?.calls])).toEqual([
      [undefined, 1],
      [undefined, 60],
      [6, 10.5],
      [undefined, 4],
    ]);
    expect(tiled?.perImage.ms).toBeCloseTo(10.5 * (tiled?.perCall.ms ?? 0), 12);
    expect(reports.map(({ replacedBy }) => replacedBy)).toEqual([undefined, ['box_head_tiles'], undefined, undefined]);
    expect(reports.map(({ estimate }) => estimate.batches?.rows.length)).toEqual([undefined, 1, undefined, 1]);
    const metrics = (await readJsonFile(done.outputs.metrics ?? '')) as { readonly total: { readonly estimatedMs: number } };
    expect(metrics.total.estimatedMs).toBeCloseTo(
      [backbone, tiled, mask].reduce((sum, image) => sum + (image?.perImage.ms ?? 0), 0),
      12,
    );
    expect(done.log).toContainEqual(expect.stringMatching(/^info: box_head_tiles: .* per image in 10\.5 calls of 6 tiles$/));
  });

  it('places a part on the CPU: it may be float, runs without its tiles, and no limit of the target concerns it', async () => {
    const canvas = { channels: 4, tile: [7, 7], pitch: [8, 8] };
    const ends = { inputs: [{ name: 'x', ...canvas }], outputs: [{ name: 'y', ...canvas }] };
    const stepOf = (model: string) => ({ steps: [{ model, grid: [2, 3], ...ends }] });
    const recipe = join(folder.path, 'placed.json');
    const tiles = { box_head: stepOf('box_head_tiles'), mask_head: stepOf('mask_head_tiles') };
    await writeFile(recipe, JSON.stringify({ ...(await exportShapes()).recipe, tiles }));
    const head = smallModel({
      inputs: { features: ['float32', ['rois', 4, 7, 7]] },
      constants: { w: randomConstant([4, 4, 1, 1], 1) },
      nodes: [{ op: 'Conv', in: ['features', 'w'], out: ['y'], name: 'conv' }],
      outputs: ['y'],
    });
    const models = {
      backbone: await place('b', makeNeck()),
      box_head: await place('float', head),
      box_head_tiles: await place('t', makeNeck()),
      mask_head: await place('d', makeHead()),
      mask_head_tiles: await place('u', makeNeck()),
    };
    const params = { target: 'ryzen-ai', golden: 0, pin: { rois: 16 }, rois: { box_head: [100, 20] }, largerBatch: 'npu', dtype: 'a8w8' };
    const done = await run({ ...params, place: { box_head: 'cpu', mask_head: 'npu' } }, { models, recipe });
    expect(done.log).toContain('info: box_head_tiles is left out: its part runs on the CPU, without tiles');
    const { models: reports } = await reportOf(done);
    expect(reports.map(({ name, place: on, replacedBy }) => [name, on, replacedBy])).toEqual([
      ['backbone', undefined, undefined],
      ['box_head', 'cpu', undefined],
      ['mask_head', undefined, ['mask_head_tiles']],
      ['mask_head_tiles', undefined, undefined],
    ]);
    const [, box] = reports;
    expect(box).toMatchObject({ legal: true, findings: [], counts: { cpuNodes: 1, npuParts: 0, parts: 1 }, parts: [{ device: 'cpu' }] });
    expect(box?.estimate.batches).toBeUndefined();
    // 100 and 20 RoIs in batches of 16. A call: 16 · 49 · 16 MAC, 16 weights, and 2 · 16 · 196 floats in and out, at the stated rates of the host.
    const { host } = getBuiltInProfile('ryzen-ai') as unknown as { host: Record<'macs' | 'bandwidth', { value: number }> };
    const ms = 1000 * ((16 * 49 * 16) / host.macs.value + (4 * (16 + 2 * 16 * 196)) / host.bandwidth.value);
    expect(box?.estimate.image.calls).toBe((7 + 2) / 2);
    expect(box?.estimate.image.perCall.ms).toBeCloseTo(ms, 9);
    const bundle = done.outputs.bundle ?? '';
    const { recipe: written } = (await readJsonFile(join(bundle, 'detector.json'))) as { recipe: { tiles: object } };
    expect(Object.keys(written.tiles)).toEqual(['mask_head']);
    const { models: listed } = (await readJsonFile(join(bundle, 'manifest.json'))) as {
      models: { name: string; place?: string; form?: string }[];
    };
    expect(listed.map(({ name, place: on, form }) => [name, on, form])).toEqual([
      ['backbone', undefined, undefined],
      ['box_head', 'cpu', 'float'],
      ['mask_head', undefined, undefined],
      ['mask_head_tiles', undefined, undefined],
    ]);
    expect(await readJsonFile(done.outputs.metrics ?? '')).toMatchObject({
      reasons: {
        'box_head.npuMacShare': ['100.0 % of the multiply-accumulates on the CPU: Conv "conv": the pipeline places its model on the CPU'],
      },
    });

    const wrong = (to: JsonObject): Promise<unknown> => failureOf(() => run({ ...params, place: to }, { models, recipe }));
    expect(await wrong({ box_haed: 'cpu' })).toMatchObject({
      code: 'unknown-model',
      help: expect.stringContaining('did you mean "box_head"?'),
    });
    expect(await wrong({ box_head_tiles: 'cpu' })).toMatchObject({ code: 'unknown-model', help: 'place its part: {box_head: cpu}' });
    const { box_head: _, ...tiled } = models;
    expect(await failureOf(() => run({ ...params, place: { box_head: 'cpu' } }, { models: tiled, recipe }))).toMatchObject({
      code: 'unknown-model',
      message: '`place` runs box_head on the CPU, without tiles, but its model without tiles is not connected',
      help: 'connect the model that `tile-rois` has as `models.box_head` to `models.box_head`, beside box_head_tiles',
    });
    const onTiles = await run({ ...params, place: { box_head: 'npu' } }, { models: tiled, recipe });
    expect((await reportOf(onTiles)).models.map(({ name }) => name)).toEqual([
      'backbone',
      'box_head_tiles',
      'mask_head',
      'mask_head_tiles',
    ]);
    const { log } = await run({ ...params, place: 'auto' }, { models: tiled, recipe });
    expect(log).toContain('info: box_head runs on the NPU: its model without tiles is not connected as `models.box_head`');
    expect(await wrong({ mask_head: 'cpu' })).toMatchObject({ code: 'model-not-quantized', help: expect.stringContaining('`place`') });
  });

  describe('with place: auto', () => {
    const bench = async (
      name: string,
      runner: string,
      times: Readonly<Record<string, number>>,
      form = 'int8',
      more = {},
    ): Promise<string> => {
      const path = join(folder.path, `${name}.json`);
      const parts = Object.entries(times).map(([part, perImageMs]) => {
        const here = { repeats: 1, minMs: 1, meanMs: 1, stdMs: 0, p50Ms: 1, p90Ms: 1, p99Ms: 1 };
        const row = { strategy: { kind: 'whole' }, counts: [{ calls: 1, padded: 0, here }], perImageMs };
        return { part, fed: 'golden', counts: [], imagesWithout: 0, forms: [{ form, rows: [row], best: 0, bestAt: [0] }] };
      });
      await writeFile(path, JSON.stringify({ format: 'tanren-bench/1', where: { runner }, warmup: 0, repeats: 1, parts, ...more }));
      return path;
    };
    const params = { target: 'ryzen-ai', golden: 0, pin: { rois: 1 }, rois: { head: [100, 20] }, place: 'auto' };
    const placements = async (inputs: Parameters<typeof runStage>[1]['inputs'], more: JsonObject = {}) =>
      (await reportOf(await run({ ...params, ...more }, inputs))).placements;
    const twoModels = async () => ({ head: await place('head', makeHead()), neck: await place('neck', makeNeck()) });

    it('takes the device with the smaller estimate, and calls it one', async () => {
      const done = await run(params, { models: await twoModels() });
      const { placements: rows, models } = await reportOf(done);
      // 60 calls of the device against 60 times a small head on the CPU.
      expect(rows).toMatchObject([
        { part: 'head', device: 'cpu', basis: 'estimate' },
        { part: 'neck', basis: 'estimate' },
      ]);
      const [head] = rows ?? [];
      expect(head?.npuMs).toBeGreaterThan(60 * 0.5);
      expect(models[0]).toMatchObject({ place: 'cpu', estimate: { image: { perImage: { ms: head?.cpuMs } } } });
      expect(done.log).toContainEqual(expect.stringMatching(/^info: head runs on the CPU: .* ms on the CPU \(an estimate\)$/));
    });

    it('takes measured times where both devices have some', async () => {
      const measured = {
        npu: await bench('npu', 'external', { head: 2, neck: 3 }),
        cpu: await bench('cpu', 'cpu', { head: 5 }),
      };
      const rows = await placements({ models: await twoModels(), measured });
      expect(rows).toMatchObject([
        { part: 'head', device: 'npu', basis: 'measured', npuMs: 2, cpuMs: 5 },
        { part: 'neck', basis: 'estimate' },
      ]);
    });

    it('counts the calls of a model that a board timed once, unless it timed the whole detector', async () => {
      const cpu = await bench('cpu', 'cpu', { head: 50 });
      const models = { head: await place('head', makeHead()) };
      const once = { npu: await bench('once', 'bundle', { head: 2 }), cpu };
      expect(await placements({ models, measured: once })).toMatchObject([{ device: 'cpu', basis: 'measured', npuMs: 60, cpuMs: 50 }]);
      // The detector ran another model of the part.
      const other = { npu: await bench('other', 'bundle', { head: 2 }, 'int8', { detector: { images: 1, steps: {} } }), cpu };
      expect(await placements({ models, measured: other })).toMatchObject([{ device: 'cpu', basis: 'measured', npuMs: 60, cpuMs: 50 }]);
      const head = { repeats: 1, minMs: 2, meanMs: 2, stdMs: 0, p50Ms: 2, p90Ms: 2, p99Ms: 2 };
      const whole = {
        npu: await bench('whole', 'bundle', { head: 9 }, 'int8', { detector: { images: 1, steps: {}, models: { head } } }),
        cpu,
      };
      expect(await placements({ models, measured: whole })).toMatchObject([{ device: 'npu', basis: 'measured', npuMs: 2 }]);
    });

    it('runs a float model on the CPU', async () => {
      const float = smallModel({
        inputs: { features: ['float32', ['rois', 4, 7, 7]] },
        constants: { w: randomConstant([4, 4, 1, 1], 1) },
        nodes: [{ op: 'Conv', in: ['features', 'w'], out: ['y'] }],
        outputs: ['y'],
      });
      const rows = await placements({ models: { head: await place('float', float) } });
      expect(rows).toMatchObject([{ part: 'head', device: 'cpu', basis: 'float' }]);
      expect(rows?.[0]).not.toHaveProperty('npuMs');
    });

    it('weighs a part on tiles with the calls of its canvases', async () => {
      const canvas = { channels: 4, tile: [7, 7], pitch: [8, 8] };
      const ends = { inputs: [{ name: 'x', ...canvas }], outputs: [{ name: 'y', ...canvas }] };
      const recipe = join(folder.path, 'auto.json');
      const tiles = { box_head: { steps: [{ model: 'box_head_tiles', grid: [2, 3], ...ends }] } };
      await writeFile(recipe, JSON.stringify({ ...(await exportShapes()).recipe, tiles }));
      const models = {
        backbone: await place('b', makeNeck()),
        box_head: await place('c', makeHead()),
        box_head_tiles: await place('t', makeNeck()),
        mask_head: await place('d', makeHead()),
      };
      const measured = {
        npu: await bench('npu', 'external', { backbone: 1, box_head_tiles: 4, box_head: 99, mask_head: 3 }),
        cpu: await bench('cpu', 'cpu', { backbone: 9, box_head: 5, mask_head: 2 }),
      };
      const report = await reportOf(await run({ ...params, rois: { box_head: [10], mask_head: [10] } }, { models, recipe, measured }));
      expect(report.placements).toMatchObject([
        { part: 'backbone', device: 'npu', npuMs: 1 },
        { part: 'box_head', device: 'npu', npuMs: 4, cpuMs: 5 },
        { part: 'mask_head', device: 'cpu', npuMs: 3, cpuMs: 2 },
      ]);
      expect(report.models.map(({ name, place: on }) => [name, on])).toEqual([
        ['backbone', undefined],
        ['box_head', undefined],
        ['box_head_tiles', undefined],
        ['mask_head', 'cpu'],
      ]);
    });

    it('refuses reports that are none, and reports without a use', async () => {
      const models = { head: await place('head', makeHead()) };
      const cpu = await bench('cpu', 'cpu', { head: 100 });
      const other = join(folder.path, 'other.json');
      await writeFile(other, '{"format": "tanren-bench/1"}');
      const codeOf = async (inputs: Parameters<typeof runStage>[1]['inputs'], to: JsonObject = {}) =>
        (await failureOf(() => run({ ...params, ...to }, { models, ...inputs }))).code;
      expect(await codeOf({ measured: { gpu: cpu } })).toBe('compile-input');
      expect(await codeOf({ measured: { npu: other } })).toBe('compile-input');
      expect(await codeOf({ measured: { cpu } }, { place: {} })).toBe('compile-input');
    });
  });

  it('compares larger batches if the params trust them', async () => {
    const params = {
      target: 'ryzen-ai',
      dtype: 'a8w8',
      largerBatch: 'npu',
      pin: { rois: 8 },
      rois: { model: [100, 20] },
      batches: [1, 8, 16],
    };
    const [head] = (await reportOf(await run(params, { model: await place('trusted', makeHead()) }))).models;
    expect(head?.counts.npuParts).toBe(1);
    expect(head?.estimate.batches?.rows.map(row => [row.batch, row.calls, row.padded])).toEqual([
      [1, 60, 0],
      [8, 8, 4],
      [16, 4.5, 12],
    ]);
  });

  it('warns of a model of which nothing runs on the NPU, with the reason', async () => {
    const { log } = await run({ target: 'ryzen-ai', pin: { rois: 16 } }, { model: await place('head', makeHead()) });
    expect(log).toContain('warning: model: nothing runs on the NPU: the batch of input "features_f" is 16; xint8 on stx-krk takes 1');
  });

  it('accepts a profile from the user', async () => {
    const path = join(folder.path, 'mine.json');
    await writeFile(path, JSON.stringify({ ...(getBuiltInProfile('generic-int8') as JsonObject), name: 'mine' }));
    const { target } = await reportOf(await run({}, { model: await place('neck', makeNeck()), profile: path }));
    expect(target).toMatchObject({ profile: 'mine', device: 'generic' });
  });

  it('gives the same bytes again', async () => {
    const inputs = { model: await place('neck', makeNeck()) };
    const [one, two] = [await run({ target: 'ryzen-ai' }, inputs), await run({ target: 'ryzen-ai' }, inputs)];
    for (const name of ['report', 'metrics'])
      expect(await readFileBytes(one.outputs[name] ?? '')).toEqual(await readFileBytes(two.outputs[name] ?? ''));
    const list = (folderPath: string) =>
      readdirSync(folderPath, { recursive: true, withFileTypes: true })
        .flatMap(entry => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []))
        .sort();
    const files = [list(one.outputs.bundle ?? ''), list(two.outputs.bundle ?? '')] as const;
    expect(files[0].length).toBeGreaterThan(3);
    expect(files[0].map(file => file.slice(one.outputs.bundle?.length))).toEqual(
      files[1].map(file => file.slice(two.outputs.bundle?.length)),
    );
    for (const [index, file] of files[0].entries()) expect(await readFileBytes(file)).toEqual(await readFileBytes(files[1][index] ?? ''));
  });
});

describe('provider options', () => {
  it('are set only in the row of device and version, and change only its cache key', async () => {
    const model = await place('neck', makeNeck());
    const read = async (providerOptions: JsonObject, row: string) => {
      const { outputs } = await run({ target: 'ryzen-ai', software: '1.7.1', providerOptions }, { model });
      return (await readJsonFile(join(outputs.bundle ?? '', `ryzenai/${row}.json`))) as JsonObject;
    };
    const own = { target: 'X1', opt_level: '2', ai_analyzer_profiling: 'True', something_new: 'yes' };
    const [plain, set] = [await read({}, '1.7.1/stx-krk'), await read(own, '1.7.1/stx-krk')];
    expect(set.providerOptions).toEqual({ ...(plain.providerOptions as JsonObject), ...own });
    expect(set.cacheKeys).not.toEqual(plain.cacheKeys);
    expect(await read(own, '1.8/stx-krk')).toEqual(await read({}, '1.8/stx-krk'));
  });
});

describe('bad input', () => {
  const float = () =>
    smallModel({
      inputs: { x: ['float32', [1, 4, 8, 8]] },
      constants: { w: randomConstant([4, 4, 1, 1]) },
      nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'] }],
      outputs: ['y'],
    });

  it.each<readonly [string, string, JsonObject, (folderPath: string) => Promise<Record<string, string>>]>([
    ['an unquantized model', 'model-not-quantized', { target: 'ryzen-ai' }, async () => ({ model: await place('float', float()) })],
    ['dynamic shapes', 'dynamic-shapes', { target: 'ryzen-ai' }, async () => ({ model: await place('head', makeHead()) })],
    ['an unknown target', 'unknown-target', { target: 'ryzen' }, async () => ({ model: await place('neck', makeNeck()) })],
    ['no target', 'target-missing', {}, async () => ({ model: await place('neck', makeNeck()) })],
    ['no model', 'compile-input', { target: 'ryzen-ai' }, async () => ({})],
    [
      'a config without a recipe',
      'compile-input',
      { target: 'ryzen-ai' },
      async () => ({ model: await place('neck', makeNeck()), config: join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json') }),
    ],
    [
      'a recipe of another detector',
      'part-missing',
      { target: 'ryzen-ai' },
      async () => ({ model: await place('neck', makeNeck()), recipe: await placeRecipe() }),
    ],
    [
      'a pin that no model has',
      'unknown-size',
      { target: 'ryzen-ai', pin: { roi: 8 } },
      async () => ({ model: await place('head', makeHead()) }),
    ],
    ...(
      [
        ['the cache key as an option', { cache_key: 'mine' }],
        ['an unknown target of the compiler', { target: 'X3' }],
        ['an option of a later version', { opt_level: '1' }, '1.4'],
        ['an option of an earlier version', { log_level: 'info' }, '1.7'],
        ['an overlay for X2', { xclbin: '4x4.xclbin' }],
      ] as const
    ).map(
      ([name, providerOptions, software = '1.8']) =>
        [
          name,
          'provider-option',
          { target: 'ryzen-ai', software, providerOptions },
          async () => ({ model: await place('neck', makeNeck()) }),
        ] as const,
    ),
    [
      'a device after its last version',
      'target-combination',
      { target: 'ryzen-ai', device: 'phx-hpt', software: '1.8' },
      async () => ({ model: await place('neck', makeNeck()) }),
    ],
    [
      'RoIs of no model',
      'unknown-model',
      { target: 'ryzen-ai', pin: { rois: 8 }, rois: { modle: [8] } },
      async () => ({ model: await place('head', makeHead()) }),
    ],
    [
      'a file that is no model',
      'model-malformed',
      { target: 'ryzen-ai' },
      async path => {
        await writeFile(join(path, 'text.onnx'), 'this is no model');
        return { model: join(path, 'text.onnx') };
      },
    ],
    [
      'a profile that lacks a limit',
      'profile-malformed',
      {},
      async path => {
        const profile = structuredClone(getBuiltInProfile('ryzen-ai')) as { graph: { minConvs?: unknown } };
        delete profile.graph.minConvs;
        await writeFile(join(path, 'bad.json'), JSON.stringify(profile));
        return { model: await place('neck', makeNeck()), profile: join(path, 'bad.json') };
      },
    ],
    [
      'a target that is not the profile’s name',
      'target-combination',
      { target: 'ryzen-ai' },
      async path => {
        await writeFile(join(path, 'generic.json'), JSON.stringify(getBuiltInProfile('generic-int8')));
        return { model: await place('neck', makeNeck()), profile: join(path, 'generic.json') };
      },
    ],
  ])('%s is error %s, and nothing is written', async (_name, code, params, makeInputs) => {
    const own = await temporaryFolder('compile-bad');
    const inputs = await makeInputs(own.path);
    const before = readdirSync(own.path).length;
    expect((await failureOf(() => runStage(compile, { params, inputs, folder: own.path }))).code).toBe(code);
    const [runFolder = ''] = readdirSync(own.path).filter(name => name.startsWith('run-'));
    expect(readdirSync(own.path).length).toBe(before + 1);
    for (const port of ['report', 'metrics', 'bundle']) expect(existsSync(join(own.path, runFolder, port))).toBe(false);
    await own.remove();
  });
});

async function readFileBytes(path: string): Promise<Buffer> {
  return (await import('node:fs/promises')).readFile(path);
}
