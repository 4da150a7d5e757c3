/** `tile-rois` on the example's heads: models, recipe, report and metrics, grids by RoI counts, a head that is cut, and what it refuses. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../../src/base/invariant.js';
import type { Json, JsonObject } from '../../../src/base/json.js';
import type { Detector } from '../../../src/detection/detector/detector.js';
import { openDetector } from '../../../src/detection/open-detector.js';
import { readDefinition } from '../../../src/detection/read-definition.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { listGrids } from '../../../stages/tile-rois/choose-tiles.js';
import { tileRois } from '../../../stages/tile-rois/stage.js';
import { failureOf } from '../../support/error-code.js';
import { makeHead, makeRows } from '../../support/heads.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { exportShapes } from '../../support/shapes.js';

const folder = givenFolder('tile-rois');
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  const { model, recipe } = await exportShapes();
  await writeModel(at('backbone.onnx'), extractSubgraph(model, recipe.parts.backbone));
  const box = await makeHead('box head v2');
  const mask = await makeHead('mask head, DepthToSpace');
  await writeModel(at('box_head.onnx'), await quantizeOn(box, makeRows(box, 4), PRESETS.xint8));
  await writeModel(at('mask_head.onnx'), await quantizeOn(mask, makeRows(mask, 4), PRESETS.xint8));
  await writeFile(at('recipe.json'), JSON.stringify(recipe));
});

const TARGET = { target: 'ryzen-ai', device: 'stx-krk', dtype: 'xint8' } as const;

async function run(heads: JsonObject, more: JsonObject = {}) {
  const models = Object.fromEntries(Object.keys(heads).map(head => [head, at(`${head}.onnx`)]));
  const { outputs, log } = await runStage(tileRois, {
    params: { heads, ...TARGET, ...more },
    inputs: { models, recipe: at('recipe.json') },
    folder: folder.path,
  });
  const read = async (port: string): Promise<JsonObject> => JSON.parse(await readFile(outputs[port] ?? '', 'utf8')) as JsonObject;
  return { outputs, log, recipe: await read('recipe'), report: await read('report'), metrics: await read('metrics') };
}

const open = (recipe: Json, parts: Readonly<Record<string, string>>): Promise<Detector> =>
  openDetector(
    { definition: readDefinition({ recipe }), models: { kind: 'parts', parts: { backbone: at('backbone.onnx'), ...parts } } },
    { optimization: 'basic' },
  );

async function expectSameOutputs(recipe: Json, parts: Readonly<Record<string, string>>): Promise<void> {
  const plain = await open(JSON.parse(await readFile(at('recipe.json'), 'utf8')) as Json, {
    box_head: at('box_head.onnx'),
    mask_head: at('mask_head.onnx'),
  });
  const tiled = await open(recipe, parts);
  const rows = makeRows(await makeHead('box head v2'), 11);
  expect(await tiled.runPart('box_head', rows)).toEqual(await plain.runPart('box_head', rows));
  await plain.close();
  await tiled.close();
}

it('a direct Conv with the pitch as stride is illegal on Ryzen AI, so the box head uses a strided Conv and a Slice', async () => {
  const { outputs, recipe, report, metrics, log } = await run({ box_head: { grid: [3, 4] }, mask_head: { grid: [2, 2] } });
  expect(metrics).toMatchObject({ box_head: { calls: 1, tiles: 12, npuMacShare: 1 }, mask_head: { tiles: 4, npuMacShare: 1 } });
  expect(report).toMatchObject({
    format: 'tanren-tiles/1',
    mask: 'full',
    heads: [
      {
        head: 'box_head',
        steps: [
          { model: 'box_head_tiles', chosen: { form: 'strided', grid: [3, 4] }, candidates: [{ form: 'direct' }, { form: 'strided' }] },
        ],
      },
      { head: 'mask_head', steps: [{ model: 'mask_head_tiles', chosen: { form: 'direct' }, candidates: [{ form: 'direct' }] }] },
    ],
  });
  expect(log[0]).toMatch(
    /^info: box_head_tiles: 3 × 4 tiles, pitch 8 × 8: 1\.0 calls per image, estimated \d+\.\d ms; 100\.0 % of the MACs on the NPU$/,
  );
  await expectSameOutputs(recipe, { box_head_tiles: outputs.box_head_tiles ?? '', mask_head_tiles: outputs.mask_head_tiles ?? '' });
});

it('a head that is cut at its Flatten becomes two models, between which the host lays the rows out again', async () => {
  const { outputs, recipe, metrics } = await run({ box_head: { form: 'cut', grid: [2, 3] } }, { mask: 'input' });
  expect(recipe.tiles).toMatchObject({
    box_head: {
      steps: [
        {
          model: 'box_head_tiles',
          grid: [2, 3],
          inputs: [{ name: 'box_features', tile: [7, 7], pitch: [8, 8] }],
          masks: [{ channels: 32, tile: [7, 7] }],
        },
        { model: 'box_head_tiles_fc', outputs: [{ name: 'class_logits', tile: [1, 1] }, { name: 'box_regression' }] },
      ],
    },
  });
  expect(metrics).toMatchObject({ box_head: { calls: 2, npuMacShare: 1 } });
  await expectSameOutputs(recipe, {
    box_head_tiles: outputs.box_head_tiles ?? '',
    box_head_tiles_fc: outputs.box_head_tiles_fc ?? '',
    mask_head: at('mask_head.onnx'),
  });
});

it('no grid and no captured RoI counts, a head that cannot be cut, and a recipe with a fixed batch are refused', async () => {
  expect((await failureOf(() => run({ box_head: {} }))).code).toBe('no-row-counts');
  expect((await failureOf(() => run({ mask_head: { form: 'cut', grid: [1, 2] } }))).code).toBe('tiles-cut');
  const { recipe } = await exportShapes({ roiBatch: 4 });
  await mkdir(at('fixed'), { recursive: true });
  await writeFile(at('fixed/recipe.json'), JSON.stringify(recipe));
  const failure = await failureOf(() =>
    runStage(tileRois, {
      params: { heads: { box_head: { grid: [2, 2] } }, ...TARGET },
      inputs: { models: { box_head: at('box_head.onnx') }, recipe: at('fixed/recipe.json') },
      folder: folder.path,
    }),
  );
  expect(failure).toMatchObject({
    code: 'bad-recipe',
    message: 'host recipe: tiles.box_head: has batches of 4 RoIs in the recipe, expected a free batch',
  });
});

it('a name that is no head, a model of another head, and a float head are told', async () => {
  const given = (heads: JsonObject, models: Readonly<Record<string, string>>, recipe = at('recipe.json')) =>
    runStage(tileRois, { params: { heads, ...TARGET }, inputs: { models, recipe }, folder: folder.path });
  const grid = [1, 2];
  const help = 'parts of the recipe that run on RoIs: box_head, mask_head';
  expect(await failureOf(() => given({ bx: { grid } }, { bx: at('box_head.onnx') }))).toMatchObject({ code: 'part-unknown', help });
  expect(await failureOf(() => given({ backbone: { grid } }, { backbone: at('backbone.onnx') }))).toMatchObject({
    code: 'tiles-refused',
    message: 'part "backbone" runs once per image, not on RoIs',
    help,
  });
  expect(await failureOf(() => given({ box_head: { grid } }, { box_head: at('mask_head.onnx') }))).toMatchObject({
    code: 'part-values',
    message: expect.stringContaining('the model of head "box_head" has no "box_features", "class_logits"'),
  });
  await writeModel(at('float.onnx'), await makeHead('box head v2'));
  expect((await given({ box_head: { grid } }, { box_head: at('float.onnx') })).log[0]).toBe(
    'warning: box_head is not quantized: put the quantized head on tiles, or its ranges include the gaps between them',
  );
});

it('heads that an earlier stage put on tiles stay there', async () => {
  const first = await run({ box_head: { grid: [2, 2] } });
  const { outputs } = await runStage(tileRois, {
    params: { heads: { mask_head: { grid: [1, 2] } }, ...TARGET },
    inputs: { models: { mask_head: at('mask_head.onnx') }, recipe: first.outputs.recipe ?? '' },
    folder: folder.path,
  });
  const { tiles } = JSON.parse(await readFile(outputs.recipe ?? '', 'utf8')) as { readonly tiles: JsonObject };
  expect(tiles).toMatchObject({
    box_head: first.recipe.tiles && (first.recipe.tiles as JsonObject).box_head,
    mask_head: { steps: [{ grid: [1, 2] }] },
  });
});

it('grids are near-square, from one tile to the most', () => {
  expect(listGrids(7)).toEqual([
    [1, 1],
    [1, 2],
    [2, 2],
    [2, 3],
  ]);
  expect(getDefined(listGrids(25).at(-1), 'the last')).toEqual([5, 5]);
});
