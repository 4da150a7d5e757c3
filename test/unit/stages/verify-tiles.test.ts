/** `verify` of a head on tiles against the head that runs one RoI at a time: one part, with inner values, and what is refused. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import type { TilesByPart } from '../../../src/detection/tiles/part-tiles.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { type TiledModel, tileRois } from '../../../src/onnx/tiles/tile-rois.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { verify } from '../../../stages/verify/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { type ShapesFiles, writeShapes } from '../../support/shapes-files.js';

const GRID = [3, 4] as const;

const folder = givenFolder('verify-tiles');
let files: ShapesFiles;
let tiled: TiledModel;
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  files = await writeShapes(folder.path);
  tiled = tileRois(await readModel(files.parts.mask_head), { grid: GRID, mask: 'full', strides: 'any' });
  await writeModel(at('mask_head_tiles.onnx'), tiled.model);
  await placeRecipe('tiles.json', ['mask_head_tiles']);
  await placeRecipe('cut.json', ['mask_head_tiles', 'mask_head_tiles_fc']);
});

async function placeRecipe(name: string, models: readonly string[]): Promise<void> {
  const { inputs, outputs } = tiled;
  const tiles: TilesByPart = { mask_head: { steps: models.map(model => ({ model, grid: GRID, inputs, outputs })) } };
  await writeFile(at(name), JSON.stringify({ ...(JSON.parse(await readFile(files.recipe, 'utf8')) as JsonObject), tiles }));
}

function run(params: JsonObject, inputs: InputPaths) {
  const shared = { recipe: files.recipe, candidateRecipe: at('tiles.json'), config: files.config, data: files.val };
  return runStage(verify, { params: { images: [1014], ...params }, inputs: { ...shared, ...inputs }, folder: folder.path });
}

/** A mask head needs more than one canvas, so that a wrong order of tiles shows. */
it('a part on tiles equals the part that runs one RoI at a time', async () => {
  const inputs = { reference: files.parts.mask_head, candidate: at('mask_head_tiles.onnx'), detector: files.parts };
  const { outputs } = await run({ part: 'mask_head', thresholds: { maxAbs: 0 } }, inputs);
  expect(await readJsonFile(outputs.metrics ?? '')).toMatchObject({ worst: { maxAbs: 0, sqnrDb: 'equal' } });
});

it('inner values of a part on tiles are not compared, and the log says so', async () => {
  const candidate = { ...files.parts, mask_head: undefined, mask_head_tiles: at('mask_head_tiles.onnx') };
  const { mask_head: _, ...models } = candidate;
  const { outputs, log } = await run({ values: 'all' }, { reference: files.parts, candidate: models });
  const { propagated } = (await readJsonFile(outputs.report ?? '')) as { readonly propagated: readonly { readonly part: string }[] };
  expect(propagated.map(({ part }) => part)).toEqual(['backbone', 'box_head']);
  expect(log).toContainEqual('warning: inner values of mask_head are not compared, because the part runs on tiles; its outputs are');
});

it('a model that is not on tiles, and a part of two models, are refused', async () => {
  const inputs = { reference: files.parts.mask_head, candidate: files.parts.mask_head, detector: files.parts };
  expect((await failureOf(() => run({ part: 'mask_head' }, inputs))).code).toBe('model-run');
  const failure = await failureOf(() => run({ part: 'mask_head' }, { ...inputs, candidateRecipe: at('cut.json') }));
  expect(failure.code).toBe('part-missing');
  expect(failure.message).toBe('part mask_head runs as 2 models on tiles, and port `candidate` takes one');
});
