/** SQNR of every output and AP of the int8 YOLACT against onnxruntime.quantization with the same calibration data. */

import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { listImages, takeFirstImages } from '../../../src/detection/data/image-list.js';
import { prepareImage } from '../../../src/detection/families/yolact/prepare-image.js';
import type { YolactRecipe } from '../../../src/detection/families/yolact/recipe.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { readFileBytes } from '../../../src/tensor/formats/file-bytes.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { simplify } from '../../../stages/simplify/stage.js';
import { measureSqnr } from '../../support/output-sqnr.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { exportYolactShapes } from '../../support/yolact-outputs.js';

interface Recorded {
  readonly AP: Readonly<Record<'bbox' | 'segm', number>>;
  readonly sqnr_db: Readonly<Record<string, number>>;
}

/** Exponents in the recording count from the ceiling of log2, ours from the nearest: one more candidate covers both. */
const POWER_OF_TWO = { kind: 'power-of-two', position: { kind: 'min-mse', first: -1, last: 1 } } as const;

const CONFIGS: Readonly<Record<string, JsonObject>> = {
  'u8s8-minmax': { preset: 'u8s8' },
  'u8s8-minmax-perchannel': { preset: 'u8s8', weight: { perChannel: true } },
  's8s8sym-minmax (a8w8)': { preset: 'a8w8' },
  'u8s8-percentile99.99-perchannel': { preset: 'u8s8', weight: { perChannel: true }, range: { kind: 'percentile', percentile: 99.99 } },
  'power-of-two (plain xint8)': { preset: 's8s8', activation: { symmetric: true }, range: POWER_OF_TWO, weight: { range: POWER_OF_TWO } },
};

/** Allowed differences: SQNR and AP below the recorded ones. */
const BOUND_DB = 0.5;
const BOUND_AP = 0.003;

/** Configurations whose AP is measured too: inference on 200 images takes half a minute each. */
const WITH_AP = new Set(['s8s8sym-minmax (a8w8)', 'power-of-two (plain xint8)']);

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const data = (split: string): Record<string, string> => ({
  annotations: join(SHAPES_FOLDER, `data/instances_${split}.json`),
  images: join(SHAPES_FOLDER, `data/${split}`),
});

suite('the int8 YOLACT', () => {
  const folder = givenFolder('yolact-int8');
  let recipe: YolactRecipe;
  let recorded: Readonly<Record<string, Recorded>>;
  let float: string;
  let sketches: string;
  let recipePath: string;

  beforeAll(async () => {
    const baseline = (await readJsonFile(join(shared ?? '', 'shapes/yolact/int8_baseline.json'))) as unknown as {
      configs: typeof recorded;
    };
    recorded = baseline.configs;
    const exported = await exportYolactShapes();
    recipe = exported.recipe;
    recipePath = join(folder.path, 'recipe.json');
    await writeModel(join(folder.path, 'network.onnx'), exported.model);
    await writeJsonFile(recipePath, recipe);
    const simplified = await runStage(simplify, { params: {}, inputs: { model: join(folder.path, 'network.onnx') }, folder: folder.path });
    float = simplified.outputs.model ?? '';
    const { outputs } = await runStage(calibrate, {
      params: { part: 'network', samples: 16 },
      inputs: { model: float, recipe: recipePath, data: data('calib') },
      folder: folder.path,
    });
    sketches = outputs.sketches ?? '';
  });

  it.each(Object.keys(CONFIGS))('%s: every output at most 0.5 dB below the recording, and AP at most 0.003 below it', async config => {
    const { outputs } = await runStage(quantize, {
      params: CONFIGS[config] ?? {},
      inputs: { model: float, sketches },
      folder: folder.path,
    });
    const int8 = outputs.model ?? '';
    const figures = await measureSqnr(float, int8, readFeeds(recipe));
    const expected = recorded[config];
    expect(Object.keys(figures).sort()).toEqual(Object.keys(expected?.sqnr_db ?? {}).sort());
    const missing = Object.entries(expected?.sqnr_db ?? {}).filter(([name, db]) => !((figures[name] ?? 0) >= db - BOUND_DB));
    expect(missing.map(([name, db]) => `${name}: ${figures[name]} dB, recorded ${db}`)).toEqual([]);
    if (!WITH_AP.has(config)) return;

    const evaluated = await runStage(evaluate, {
      params: { optimization: 'all' },
      inputs: { parts: { network: int8 }, recipe: recipePath, data: data('val') },
      folder: folder.path,
    });
    const metrics = (await readJsonFile(evaluated.outputs.metrics ?? '')) as unknown as Readonly<Record<'bbox' | 'segm', { AP: number }>>;
    for (const type of ['bbox', 'segm'] as const)
      expect([type, metrics[type].AP >= (expected?.AP[type] ?? 1) - BOUND_AP]).toEqual([type, true]);
  });
});

/** Prepared validation images. */
async function* readFeeds(recipe: YolactRecipe): AsyncGenerator<Readonly<Record<string, Tensor>>> {
  const { annotations = '', images = '' } = data('val');
  for (const { fileName } of takeFirstImages(listImages(await readJsonFile(annotations)), 32)) {
    const image = await decodeImage(await readFileBytes(join(images, fileName)), fileName);
    yield { [recipe.image.value]: prepareImage(image, recipe.image, recipe.config) };
  }
}
