/** `verify` with `values: all`: the runs of the reference's models are kept, the report is the same, and nothing that they depend on is missing from their key. */
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import type { Context } from '../../../src/stage/context.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { TOO_LARGE_FILE } from '../../../stages/verify/reference-part.js';
import { verify } from '../../../stages/verify/stage.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { type ShapesFiles, writeShapes } from '../../support/shapes-files.js';
import { type StoringMemo, storingMemo } from '../../support/storing-memo.js';

const ANY = { minSqnrDb: -998, maxMissed: 1, maxExtra: 1 };

const folder = givenFolder('verify-reference');
const at = (name: string): string => join(folder.path, name);
let files: ShapesFiles;
let shifted: string;
let memo: StoringMemo;
let base: string;

/** Report and metrics as text. */
async function run(params: JsonObject, inputs: InputPaths, keep?: Context['memo']): Promise<string> {
  const { outputs } = await runStage(verify, {
    params: { values: 'all', samples: 1, thresholds: ANY, ...params },
    inputs: { recipe: files.recipe, config: files.config, data: files.val, reference: files.parts, candidate: files.parts, ...inputs },
    folder: folder.path,
    ...(keep === undefined ? {} : { memo: keep }),
  });
  return (await readFile(outputs.report ?? '', 'utf8')) + (await readFile(outputs.metrics ?? '', 'utf8'));
}

/** The backbone with one bias shifted. */
async function writeShifted(): Promise<string> {
  const model = await readModel(files.parts.backbone);
  for (const { constant } of model.graph.values.values()) {
    if (constant?.dtype !== 'float32' || constant.dims.length !== 1) continue;
    const view = new DataView(constant.bytes.buffer, constant.bytes.byteOffset, constant.bytes.byteLength);
    view.setFloat32(0, view.getFloat32(0, true) + 0.25, true);
    break;
  }
  await writeModel(at('shifted.onnx'), model);
  return at('shifted.onnx');
}

beforeAll(async () => {
  files = await writeShapes(folder.path);
  shifted = await writeShifted();
  await cp(files.val.images, at('images'), { recursive: true });
  const names = (JSON.parse(await readFile(files.val.annotations, 'utf8')) as { images: { id: number; file_name: string }[] }).images
    .sort((one, other) => one.id - other.id)
    .map(({ file_name }) => file_name);
  await copyFile(join(files.val.images, names[1] ?? ''), join(at('images'), names[0] ?? ''));
  const config = JSON.parse(await readFile(files.config, 'utf8')) as { box: { detectionsPerImage: number } };
  await writeFile(at('config.json'), JSON.stringify({ ...config, box: { ...config.box, detectionsPerImage: 1 } }));
  memo = storingMemo(folder);
  base = await run({}, {}, memo.memo);
});

describe('verify, runs of the reference', () => {
  it('are computed once per image, and not again for another candidate, whose report is that of a run without them', async () => {
    expect(memo.computed).toEqual(['verify-reference']);
    memo.forget();
    const candidate = { ...files.parts, backbone: shifted };
    expect(await run({}, { candidate }, memo.memo)).toBe(await run({}, { candidate }));
    expect(memo.computed).toEqual([]);
    expect(await run({}, {}, memo.memo)).toBe(base);
  });

  it.each<[what: string, params: JsonObject, inputs: () => InputPaths]>([
    ['a model', {}, () => ({ reference: { ...files.parts, backbone: shifted } })],
    ['the image', {}, () => ({ data: { ...files.val, images: at('images') } })],
    ['the config', {}, () => ({ config: at('config.json') })],
    ['the optimization level', { optimization: 'disabled' }, () => ({})],
  ])('are not those of another one of %s', async (_, params, inputs) => {
    const found = await run(params, inputs(), memo.memo);
    expect(found).toBe(await run(params, inputs()));
    expect(found).not.toBe(base);
  });

  it('that were too large to keep are computed by the stage', async () => {
    const memoOfLarge = async () => ({ files: { [TOO_LARGE_FILE]: at('none') }, from: 'kept' as const });
    expect(await run({}, {}, memoOfLarge)).toBe(base);
  });

  it('are kept only where inner values are compared, as a stage that tunes does', async () => {
    memo.forget();
    await run({ values: 'outputs' }, {}, memo.memo);
    expect(memo.computed).toEqual([]);
  });
});
