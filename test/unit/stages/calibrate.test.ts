/** The stage `calibrate`: sketches, reuse of samples, errors. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/base/json.js';
import type { MaskRcnnPart } from '../../../src/detection/families/maskrcnn/part-names.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { EMPTY_SKETCH } from '../../../src/quant/sketch/sketch.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, parseParams, runStage } from '../../support/run-stage.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';
import { type ShapesParts, writeShapesParts } from '../../support/shapes-parts.js';
import { storingMemo } from '../../support/storing-memo.js';

interface Run {
  readonly sketches: Json;
  readonly report: JsonObject;
  readonly log: readonly string[];
}

describe('calibrate', () => {
  const folder = givenFolder('calibrate');
  let shapes: ShapesParts;
  const memo = storingMemo(folder);

  beforeAll(async () => {
    shapes = await writeShapesParts(folder.path);
  });
  beforeEach(() => memo.forget());

  async function run(part: MaskRcnnPart, params: JsonObject, inputs: Record<string, string | Record<string, string>> = {}): Promise<Run> {
    const { outputs, log } = await runStage(calibrate, {
      params: { part, ...params },
      inputs: { model: shapes.parts[part], recipe: shapes.recipePath, data: shapes.calib, detector: shapes.parts, ...inputs },
      folder: folder.path,
      memo: memo.memo,
    });
    const read = async (path: string | undefined) => JSON.parse(await readFile(path ?? '', 'utf8')) as Json;
    return { sketches: await read(outputs.sketches), report: (await read(outputs.report)) as JsonObject, log };
  }

  const count = (name: string) => memo.computed.filter(one => one === name).length;

  async function edited(part: MaskRcnnPart, edit: (model: Model) => void): Promise<string> {
    const model = await readModel(shapes.parts[part]);
    edit(model);
    const path = join(folder.path, `edited-${Math.random()}.onnx`);
    await writeModel(path, model);
    return path;
  }

  async function dataSet(files: Readonly<Record<string, Uint8Array>>): Promise<Record<string, string>> {
    const images = join(folder.path, `images-${Math.random()}`);
    await mkdir(images);
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(images, name), bytes);
    const annotations = `${images}.json`;
    await writeFile(annotations, JSON.stringify({ images: Object.keys(files).map((file_name, i) => ({ id: i + 1, file_name })) }));
    return { annotations, images };
  }

  it('gives a sketch per activation over all samples; one more sample costs one inference', async () => {
    const two = parseModelSketches((await run('backbone', { samples: 2 })).sketches);
    expect(count('calibrate-sketch')).toBe(2);
    memo.forget();
    const three = parseModelSketches((await run('backbone', { samples: 3 })).sketches);
    expect(memo.computed).toEqual(['calibrate-image-input', 'calibrate-sketch']);
    expect(three.samples).toBe(3);
    expect([...three.values.keys()]).toEqual([...two.values.keys()]);
    for (const [address, { sketch, name }] of three.values) {
      expect([name, sketch.count * 2]).toEqual([name, (two.values.get(address)?.sketch.count ?? 0) * 3]);
    }
    const names = [...three.values.values()].map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['image', 'feature_0', 'objectness_4']));
  });

  it('a model with changed names reuses every sample; one with another weight reuses none', async () => {
    const before = await run('backbone', { samples: 2 });
    memo.forget();
    const renamed = await edited('backbone', ({ graph }) => {
      for (const [i, value] of [...graph.values.values()].entries()) value.name = `value ${i}`;
    });
    const after = await run('backbone', { samples: 2 }, { model: renamed });
    expect(memo.computed).toEqual([]);
    const strip = ({ sketches }: Run) => [...parseModelSketches(sketches).values].map(([address, { sketch }]) => [address, sketch]);
    expect(strip(after)).toEqual(strip(before));

    const reweighted = await edited('backbone', ({ graph }) => {
      const weight = [...graph.values.values()].find(({ constant }) => constant?.dtype === 'float32' && constant.dims.length === 4);
      if (weight?.constant === undefined || !('bytes' in weight.constant)) throw new Error('no weight');
      const bytes = weight.constant.bytes.slice();
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      weight.constant = { ...weight.constant, bytes };
    });
    await run('backbone', { samples: 2 }, { model: reweighted });
    expect(memo.computed).toEqual(['calibrate-sketch', 'calibrate-sketch']);
  });

  it('both heads share one run of the detector per image; batches are not padded', async () => {
    const box = await run('box_head', { samples: 2, rois: { max: 20 } });
    expect(count('calibrate-roi-inputs')).toBe(2);
    const mask = await run('mask_head', { samples: 2, rois: { max: 20 } });
    expect(count('calibrate-roi-inputs')).toBe(2);
    expect(count('calibrate-sketch')).toBe(4);
    const rows = ({ report }: Run) => (report.samples as readonly JsonObject[]).map(sample => Number(sample.rows));
    expect(rows(box)).toEqual([20, 20]);
    const found = rows(mask);
    for (const number of found) expect(number).toBeGreaterThan(0);
    const features = [...parseModelSketches(mask.sketches).values.values()].find(({ name }) => name === 'mask_features');
    const { channels, size } = shapes.recipe.maskHead;
    expect(features?.sketch.count).toBe(found.reduce((sum, one) => sum + one, 0) * channels * size * size);
  });

  it('images with too few RoIs are skipped with a warning and listed; no remaining image is an error', async () => {
    const { report, log } = await run('mask_head', { samples: 8, rois: { max: 8, min: 6 } });
    const skipped = report.skipped as readonly JsonObject[];
    expect(skipped.length).toBeGreaterThan(0);
    expect((report.samples as readonly Json[]).length + skipped.length).toBe(8);
    expect(log.filter(line => line.startsWith('warning: image'))).toHaveLength(skipped.length);
    expect((await failureOf(() => run('mask_head', { samples: 2, rois: { max: 100, min: 100 } }))).code).toBe('no-rois');
  });

  it('an unnamed part is found by the model inputs', async () => {
    const { outputs } = await runStage(calibrate, {
      params: { samples: 1 },
      inputs: { model: shapes.parts.backbone, recipe: shapes.recipePath, data: shapes.calib },
      folder: folder.path,
      memo: memo.memo,
    });
    expect(JSON.parse(await readFile(outputs.report ?? '', 'utf8'))).toMatchObject({ part: 'backbone' });
  });

  it('two runs give the same bytes', async () => {
    const [a, b] = [await run('backbone', { samples: 2 }), await run('backbone', { samples: 2 })];
    expect(JSON.stringify(a)).toBe(JSON.stringify(b));
  });

  describe('bad input', () => {
    it('an image that does not decode is named', async () => {
      const jpeg = await readFile(join(SHAPES_FOLDER, 'data/calib/000000005000.jpg'));
      const data = await dataSet({ 'good.jpg': jpeg, 'cut.jpg': jpeg.subarray(0, 900) });
      const failure = await failureOf(() => run('backbone', {}, { data }));
      expect(failure.code).toBe('image-decode');
      expect(failure.message).toMatch(/^image 2 \(cut\.jpg\)/);
    });

    it('an annotation without image is named', async () => {
      const data = await dataSet({ 'there.jpg': await readFile(join(SHAPES_FOLDER, 'data/calib/000000005000.jpg')) });
      await writeFile(data.annotations ?? '', JSON.stringify({ images: [{ id: 7, file_name: 'gone.jpg' }] }));
      expect(await failureOf(() => run('backbone', {}, { data }))).toMatchObject({ code: 'image-missing' });
    });

    it.each([
      ['no image at all', { images: [] }, 'no-images'],
      ['no list of images', {}, 'coco-field'],
      ['an id that is a list', { images: [{ id: [1], file_name: 'a' }] }, 'coco-field'],
      ['a path out of the folder', { images: [{ id: 1, file_name: '../secret.jpg' }] }, 'coco-file-name'],
    ])('%s', async (_what, annotations, code) => {
      const data = await dataSet({});
      await writeFile(data.annotations ?? '', JSON.stringify(annotations));
      expect((await failureOf(() => run('backbone', {}, { data }))).code).toBe(code);
    });

    it('more samples than images', async () => {
      expect(await failureOf(() => run('backbone', { samples: 1000 }))).toMatchObject({
        code: 'too-few-images',
        message: '1000 images are requested, but the data set has only 32',
      });
    });

    it('a head without a detector', async () => {
      const inputs = { model: shapes.parts.box_head, recipe: shapes.recipePath, data: shapes.calib };
      const failing = () => runStage(calibrate, { params: { part: 'box_head' }, inputs, folder: folder.path, memo: memo.memo });
      expect((await failureOf(failing)).code).toBe('detector-missing');
    });

    it('a part that the recipe does not have', async () => {
      expect((await failureOf(() => run('backbone', { part: 'neck' }))).code).toBe('part-unknown');
    });

    it('a model that computes NaN is an error that names image and node', async () => {
      const broken = await edited('backbone', ({ graph }) => {
        const conv = [...graph.nodes.values()].find(node => node.opType === 'Conv');
        const id = conv?.inputs[1];
        const weight = id === undefined ? undefined : graph.values.get(id);
        if (weight?.constant === undefined || !('bytes' in weight.constant)) throw new Error('no weight');
        const bytes = weight.constant.bytes.slice();
        bytes.set(new Uint8Array(Float32Array.of(Number.NaN).buffer));
        weight.constant = { ...weight.constant, bytes };
      });
      const failure = await failureOf(() => run('backbone', { samples: 1 }, { model: broken }));
      expect(failure.code).toBe('not-finite');
      expect(failure.message).toMatch(/^image 5000 \(000000005000\.jpg\): Conv "backbone\/body\/conv1/);
    });

    it('params that contradict each other', () => {
      expect(() => parseParams(calibrate, { rois: { min: 9, max: 8 } })).toThrow('rois.min is 9, but rois.max is only 8');
    });
  });

  it('the bytes of the image are part of the key, its name is not', async () => {
    const folderOf = async (name: string) => {
      const data = await dataSet({});
      await copyFile(join(SHAPES_FOLDER, 'data/calib/000000005000.jpg'), join(data.images ?? '', name));
      await writeFile(data.annotations ?? '', JSON.stringify({ images: [{ id: 1, file_name: name }] }));
      return data;
    };
    await run('backbone', {}, { data: await folderOf('one.jpg') });
    memo.forget();
    await run('backbone', {}, { data: await folderOf('other.jpg') });
    expect(memo.computed).toEqual([]);
  });

  it('compat: ort counts in a second pass in sample order; other samples or bins are counted again', async () => {
    const { sketches, log } = await run('mask_head', { samples: 3, compat: 'ort' });
    expect(count('calibrate-ort-counts')).toBe(3);
    expect(log).toContain('info: second pass: 3 inferred, 0 reused');
    const parsed = parseModelSketches(sketches);
    for (const { sketch, ort } of parsed.values.values()) {
      expect([Math.min(...(ort?.sampleMin ?? [])), Math.max(...(ort?.sampleMax ?? []))]).toEqual([sketch.min, sketch.max]);
      const sums = ort?.histograms.map(({ of, counts }) => [of, counts.length, counts.reduce((sum, n) => sum + n, 0)]);
      expect(sums).toEqual([
        ['magnitudes', 2048, sketch.count],
        ['values', 2048, sketch.count],
        ['values', 128, sketch.count],
      ]);
    }
    memo.forget();
    expect((await run('mask_head', { samples: 3, compat: 'ort' })).sketches).toEqual(sketches);
    expect(memo.computed).toEqual([]);
    await run('mask_head', { samples: 3, compat: 'ort', ortHistograms: [{ of: 'values', bins: 64 }] });
    expect([count('calibrate-sketch'), count('calibrate-ort-counts')]).toEqual([0, 3]);
  });

  it('perChannel keeps the range of each channel', async () => {
    const plain = parseModelSketches((await run('backbone', { samples: 2 })).sketches);
    const { values } = parseModelSketches((await run('backbone', { samples: 2, perChannel: true })).sketches);
    for (const [address, { sketch }] of values) {
      const { channels, ...rest } = sketch;
      const { channels: _none, ...before } = plain.values.get(address)?.sketch ?? EMPTY_SKETCH;
      expect(rest).toEqual(before);
      expect([Math.min(...(channels?.min ?? [])), Math.max(...(channels?.max ?? []))]).toEqual([sketch.min, sketch.max]);
    }
    expect([...values.values()].some(({ sketch }) => (sketch.channels?.min.length ?? 0) > 8)).toBe(true);
  });
});
