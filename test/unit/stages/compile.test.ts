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
import { runStage, type StageRun, temporaryFolder } from '../../support/run-stage.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('compile');
});
afterAll(() => folder.remove());

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
    expect(await readJsonFile(done.outputs.metrics ?? '')).toMatchObject({ model: { npuParts: 1, cpuUnits: 4 }, total: { npuParts: 1 } });

    const bundle = done.outputs.bundle ?? '';
    const names = models[0]?.parts.map(part => `${part.name}.onnx`) ?? [];
    expect(readdirSync(join(bundle, 'models/model/parts')).sort()).toEqual(names.sort());
    const parts = await Promise.all(names.map(name => readModel(join(bundle, 'models/model/parts', name))));
    const feeds = { image_f: randomFloats([1, 4, 16, 16], 3) };
    expect(differingOutputs(await runWhole(model, feeds, 'basic'), await runParts(parts, feeds, 'basic'))).toEqual([]);
    expect(await readFileBytes(join(bundle, 'models/model/whole.onnx'))).toEqual(await readFileBytes(join(folder.path, 'neck.onnx')));
  });

  it('compiles models by name, pins their sizes, and compares batches for the given RoIs', async () => {
    const models = { mask_head: await place('mask', makeHead()), box_head: await place('box', makeHead()) };
    const done = await run({ target: 'ryzen-ai', pin: { rois: 8 }, rois: { box_head: [100, 20] }, batches: [1, 8, 16] }, { models });
    const report = await reportOf(done);
    expect(report.models.map(model => model.name)).toEqual(['box_head', 'mask_head']);
    const [box, mask] = report.models;
    expect(box?.parts[0]?.inputs).toMatchObject([{ name: 'features_f', dims: [8, 4, 7, 7] }]);
    expect(box?.estimate.batches?.rows.map(row => [row.batch, row.calls, row.padded])).toEqual([
      [1, 60, 0],
      [8, 8, 4],
      [16, 4.5, 12],
    ]);
    expect(mask?.estimate.batches).toBeUndefined();
    // The bundle has the compiled models.
    const whole = await readModel(join(done.outputs.bundle ?? '', 'models/box_head/whole.onnx'));
    const [input] = whole.graph.inputs;
    expect(whole.graph.values.get(input ?? (0 as never))?.type).toMatchObject({ dims: [8, 4, 7, 7] });
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
      'a pin that no model has',
      'unknown-size',
      { target: 'ryzen-ai', pin: { roi: 8 } },
      async () => ({ model: await place('head', makeHead()) }),
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
