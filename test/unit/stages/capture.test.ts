/** The stage `capture`, and `calibrate` from captured tensors. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { rowCounts } from '../../../src/runtime/capture/capture-index.js';
import { type Captured, openCaptured } from '../../../src/runtime/capture/captured.js';
import { openSession } from '../../../src/runtime/session/session.js';
import type { InputPaths, StagePlugin } from '../../../src/stage/define-stage.js';
import { encodeNpz, readNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { capture } from '../../../stages/capture/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, parseParams, runStage } from '../../support/run-stage.js';
import { type ShapesParts, writeShapesParts } from '../../support/shapes-parts.js';
import { storingMemo } from '../../support/storing-memo.js';

const folder = givenFolder('capture');
let shapes: ShapesParts;
const memo = storingMemo(folder);

beforeAll(async () => {
  shapes = await writeShapesParts(folder.path);
});
beforeEach(() => memo.forget());

const detector = (): Record<string, string | Record<string, string>> => ({
  detector: { ...shapes.parts },
  recipe: shapes.recipePath,
  config: shapes.configPath,
  data: { ...shapes.calib },
});

async function run(params: JsonObject, inputs: InputPaths = detector()) {
  const { outputs, log } = await runStage(capture, { params, inputs, folder: folder.path, memo: memo.memo });
  const path = outputs.captured ?? '';
  return { path, log, captured: await openCaptured(path) };
}

async function inputOf(captured: Captured, part: string, name: string, at = 0) {
  const sample = captured.index.samples[at];
  if (sample === undefined) throw new Error('no sample');
  const tensor = (await captured.read(sample, part, 'input'))[name];
  if (tensor?.dtype !== 'float32') throw new Error('no tensor');
  return tensor;
}

async function readSketches(inputs: InputPaths, params: JsonObject): Promise<{ sketches: string; log: readonly string[] }> {
  const { outputs, log } = await runStage(calibrate, { params, inputs, folder: folder.path, memo: memo.memo });
  return { sketches: await readFile(outputs.sketches ?? '', 'utf8'), log };
}

describe('capture of a detector', () => {
  it('keeps inputs, outputs and row counts of every part, and runs the detector once per image', async () => {
    const { captured } = await run({ samples: 2, rois: { max: 20 } });
    expect(memo.computed).toEqual(['capture-detector', 'capture-detector']);
    expect(captured.index.parts.map(part => part.name)).toEqual(['backbone', 'box_head', 'mask_head']);
    expect(captured.index.samples.map(({ id, source }) => [id, source])).toEqual([
      ['5000', '000000005000.jpg'],
      ['5007', '000000005007.jpg'],
    ]);
    const box = rowCounts(captured.index, 'box_head');
    expect(box.kept).toEqual([20, 20]);
    for (const seen of box.seen) expect(seen).toBeGreaterThan(20);
    const mask = rowCounts(captured.index, 'mask_head');
    expect(mask.kept).toEqual(mask.seen.map(seen => Math.min(seen, 20)));
    const { channels, size } = shapes.recipe.boxHead;
    const values = captured.index.parts[1]?.values.map(({ role, name, dims }) => [role, name, dims]);
    expect(values).toContainEqual(['input', 'box_features', ['rows', channels, size, size]]);
    memo.forget();
    await run({ samples: 3, rois: { max: 20 } });
    expect(memo.computed).toEqual(['capture-detector']);
  });

  it.each(['box_head', 'mask_head'] as const)('the outputs of %s equal a run of the model on the captured inputs', async part => {
    const { captured } = await run({ samples: 1, rois: { max: 3 } });
    const [sample] = captured.index.samples;
    if (sample === undefined) throw new Error('no sample');
    const session = await openSession(shapes.parts[part], { optimization: 'all' });
    const given = await session.run(await captured.read(sample, part, 'input'));
    await session.close();
    expect(await captured.read(sample, part, 'output')).toEqual(given);
  });

  it('keeps the first RoIs, or RoIs spread over all', async () => {
    const whole = await inputOf((await run({ samples: 1, rois: { max: 100_000 } })).captured, 'box_head', 'box_features');
    const seen = whole.dims[0] ?? 0;
    const size = whole.data.length / seen;
    const rowsOf = async (keep: string) => {
      const { data } = await inputOf((await run({ samples: 1, rois: { max: 4, keep } })).captured, 'box_head', 'box_features');
      return Array.from({ length: 4 }, (_, row) => data.subarray(row * size, (row + 1) * size));
    };
    const wholeRow = (row: number) => whole.data.subarray(row * size, (row + 1) * size);
    expect(await rowsOf('first')).toEqual([0, 1, 2, 3].map(wholeRow));
    expect(await rowsOf('spread')).toEqual([0, 1, 2, 3].map(i => wholeRow(Math.floor((i * seen) / 4))));
  });

  it('an image without objects is captured without rows, with a warning, and is not sufficient to calibrate a head', async () => {
    const { captured, log, path } = await run({ samples: 1 }, { ...detector(), config: await strictConfig() });
    expect(rowCounts(captured.index, 'mask_head')).toEqual({ kept: [0], seen: [0] });
    expect((await inputOf(captured, 'mask_head', 'mask_features')).dims[0]).toBe(0);
    expect(log).toContain('warning: part mask_head has no rows in 1 of 1 samples');
    const failure = await failureOf(() => readSketches({ model: shapes.parts.mask_head, captured: path }, { part: 'mask_head' }));
    expect(failure.code).toBe('no-rois');
  });

  it('two captures have the same bytes', async () => {
    const params = { samples: 2, rois: { max: 5 } };
    const [a, b] = [await run(params), await run(params)];
    const files = (await readdir(a.path, { recursive: true, withFileTypes: true })).filter(one => one.isFile());
    expect(files).toHaveLength(7);
    for (const file of files) {
      const own = join(file.parentPath, file.name);
      expect((await readFile(own)).equals(await readFile(own.replace(a.path, b.path)))).toBe(true);
    }
  });

  it('contradictory params, and missing or duplicate data, are refused', async () => {
    expect(() => parseParams(capture, { preprocess: {} })).toThrow('`preprocess` needs `of: model`');
    expect(() => parseParams(capture, { of: 'model', fit: 'static' })).toThrow('`fit` needs `of: detector`');
    const { data, ...rest } = detector();
    expect((await failureOf(() => run({}, rest))).code).toBe('data-source');
    expect((await failureOf(() => run({}, { ...rest, data, images: shapes.calib.images }))).code).toBe('data-source');
  });

  it('NaN in the input of a model is refused, and the sample is named', async () => {
    const [model, tensors] = [join(folder.path, 'plain.onnx'), join(folder.path, 'nan.npz')];
    await writeModel(model, parseModelText('agraph (float[1, 2] x) => (float[1, 2] y) { y = Relu(x) }'));
    await writeFile(tensors, encodeNpz({ x: makeTensor('float32', [1, 2], new Float32Array([1, Number.NaN])) }));
    const failure = await failureOf(() => run({ of: 'model' }, { model, tensors }));

    expect(failure).toMatchObject({ code: 'not-finite', message: expect.stringMatching(/nan.*input "x" has 1 NaN or infinite of 2/) });
  });

  it.each([
    ['capture', capture, { of: 'model' }],
    ['calibrate', calibrate, {}],
  ] as const)('%s removes the inputs of a sample once its part is done, and if it fails', async (_name, plugin, params) => {
    const [model, tensors] = [join(folder.path, 'relu.onnx'), join(folder.path, 'two.npz')];
    await writeModel(model, parseModelText('agraph (float[1, 2] x) => (float[1, 2] y) { y = Relu(x) }'));
    await writeFile(tensors, encodeNpz({ x: makeTensor('float32', [1, 2], new Float32Array([1, 2])) }));
    const inputsLeft = async () =>
      (await readdir(folder.path, { recursive: true })).filter(name => /scratch-.*(feeds|sample)-\d+\.npz$/.test(name));
    const runBy = (own: typeof memo.memo) =>
      runStage(plugin as StagePlugin<unknown>, { params, inputs: { model, tensors }, folder: folder.path, memo: own });
    const seen: number[] = [];
    await runBy(async (part, request) => {
      seen.push((await inputsLeft()).length);
      return memo.memo(part, request);
    });
    expect(seen).toEqual([1]);
    expect(await inputsLeft()).toEqual([]);
    await expect(runBy(() => Promise.reject(new Error('no slot')))).rejects.toThrow('no slot');
    expect(await inputsLeft()).toEqual([]);
  });

  /** A config by which nothing is an object. */
  async function strictConfig(): Promise<string> {
    const config = JSON.parse(await readFile(shapes.configPath, 'utf8')) as { box: JsonObject };
    const path = join(folder.path, 'strict.json');
    await writeFile(path, JSON.stringify({ ...config, box: { ...config.box, scoreThreshold: 1 } }));
    return path;
  }
});

describe('calibrate from captured tensors', () => {
  it.each([
    'backbone',
    'box_head',
    'mask_head',
  ] as const)('gives the same bytes as calibration from images and detector: %s', async part => {
    const { path } = await run({ samples: 3, rois: { max: 12 } });
    const model = shapes.parts[part];
    const captured = await readSketches({ model, captured: path }, { part, rois: { max: 12 } });
    const images = await readSketches(
      { model, recipe: shapes.recipePath, config: shapes.configPath, data: { ...shapes.calib }, detector: { ...shapes.parts } },
      { part, samples: 3, rois: { max: 12 } },
    );
    expect(captured.sketches).toBe(images.sketches);
  });

  it('can use fewer RoIs than were captured', async () => {
    const { path } = await run({ samples: 2, rois: { max: 12 } });
    const few = await run({ samples: 2, rois: { max: 5 } });
    const model = shapes.parts.box_head;
    const cut = await readSketches({ model, captured: path }, { rois: { max: 5 } });
    expect(cut.sketches).toBe((await readSketches({ model, captured: few.path }, {})).sketches);
  });

  it('runs no detector', async () => {
    const { path } = await run({ samples: 2 });
    memo.forget();
    await readSketches({ model: shapes.parts.mask_head, captured: path }, {});
    expect(new Set(memo.computed)).toEqual(new Set(['calibrate-sketch']));
  });

  describe('bad input', () => {
    let good: string;
    beforeAll(async () => {
      good = (await run({ samples: 2, rois: { max: 4 } })).path;
    });

    async function damaged(damage: (path: string) => Promise<void>): Promise<string> {
      const path = join(folder.path, `damaged-${Math.random()}`);
      await cp(good, path, { recursive: true });
      await damage(path);
      return path;
    }

    const editIndex = (edit: (text: string) => string) => async (path: string) => {
      const file = join(path, 'index.json');
      await writeFile(file, edit(await readFile(file, 'utf8')));
    };
    const rewrite = (rename: (name: string) => string, rows: number) => async (path: string) => {
      const file = join(path, 'box_head/000000.npz');
      const archive = await readNpz(file);
      const arrays = archive.names.map(name => {
        const { dims, data } = archive.getFloat32(name);
        const kept = data.slice(0, (data.length / (dims[0] ?? 1)) * rows);
        return [rename(name), { dtype: 'float32', dims: [rows, ...dims.slice(1)], data: kept }] as const;
      });
      await writeFile(file, encodeNpz(new Map(arrays)));
    };

    it.each([
      ['no index', (path: string) => rm(join(path, 'index.json')), 'bad-capture'],
      ['an index that is no JSON', editIndex(text => text.slice(0, 200)), 'bad-capture'],
      ['an index of another version', editIndex(text => text.replace('"version": 1', '"version": 9')), 'bad-capture'],
      ['a part without inputs', editIndex(text => text.replaceAll('"role": "input"', '"role": "output"')), 'bad-capture'],
      ['a path out of the folder', editIndex(text => text.replace('box_head/000000.npz', '../../secret.npz')), 'bad-capture'],
      ['a file twice', editIndex(text => text.replace('box_head/000000.npz', 'box_head/000001.npz')), 'bad-capture'],
      ['more rows kept than seen', editIndex(text => text.replace('"rows": 4', '"rows": 9999999')), 'bad-capture'],
      ['wrong names in an archive', rewrite(name => name.replace('box_features', 'features'), 4), 'capture-mismatch'],
      ['a batch of another length in an archive', rewrite(name => name, 3), 'capture-mismatch'],
      ['a missing archive', (path: string) => rm(join(path, 'box_head/000001.npz')), 'file-missing'],
      ['a cut archive', async (path: string) => writeFile(join(path, 'box_head/000001.npz'), new Uint8Array(40)), 'truncated'],
    ])('%s', async (_what, damage, code) => {
      const path = await damaged(damage);
      const failure = await failureOf(() => readSketches({ model: shapes.parts.box_head, captured: path }, { part: 'box_head' }));
      expect(failure.code).toBe(code);
      expect(failure.message).not.toContain(folder.path);
      if (code === 'truncated' || code === 'file-missing') expect(failure.message).toContain('box_head/000001.npz: ');
    });

    it('a part that was not captured, a model of other inputs, too many samples, two sources', async () => {
      const codeOf = async (params: JsonObject, inputs: InputPaths) => (await failureOf(() => readSketches(inputs, params))).code;
      const model = shapes.parts.box_head;
      expect(await codeOf({ part: 'neck' }, { model, captured: good })).toBe('part-unknown');
      expect(await codeOf({ samples: 3 }, { model, captured: good })).toBe('too-few-samples');
      expect(await codeOf({}, { model, captured: good, images: shapes.calib.images })).toBe('data-source');
      expect(await codeOf({ part: 'backbone' }, { model, captured: good })).toBe('sample-mismatch');
    });
  });
});
