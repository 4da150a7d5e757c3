/** The stage `split`: cuts by recipe and by list, reports, errors. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { openSession } from '../../../src/runtime/session/session.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { SPLIT_REPORT_SCHEMA } from '../../../stages/split/report.js';
import { split } from '../../../stages/split/stage.js';
import { PART_OUTPUTS } from '../../support/detector-parts.js';
import { generatedInput } from '../../support/generated-weights.js';
import { readAs } from '../../support/read-as.js';
import { givenFolder, outputPorts, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { TINY_CONFIG } from '../../support/tiny-maskrcnn.js';
import { writeTinyMaskRcnn } from '../../support/tiny-maskrcnn-files.js';

const folder = givenFolder('split');
const at = (name: string): string => join(folder.path, name);
beforeAll(async () => {
  await writeTinyMaskRcnn(folder.path);
});

const run = (params: JsonObject, inputs: Record<string, string> = {}): Promise<StageRun> =>
  runStage(split, { params, inputs: { model: at('whole.onnx'), ...inputs }, folder: folder.path });

const FEEDS = {
  image: generatedInput('image', [1, 3, 64, 96]),
  box_features: generatedInput('box_features', [5, 6, 7, 7]),
  mask_features: generatedInput('mask_features', [2, 6, 14, 14]),
};

/** Runs a part on the feeds that it takes; adds what it gives to `feeds`. */
async function runPart(path: string | undefined, feeds: Record<string, Tensor>): Promise<Record<string, Tensor>> {
  const session = await openSession(path ?? '', { optimization: 'basic' });
  const wanted = Object.fromEntries(session.inputNames.map(name => [name, feeds[name]]));
  const results = await session.run(wanted as Record<string, Tensor>);
  await session.close();
  return { ...feeds, ...results };
}

describe('split', () => {
  it("cuts by a recipe into parts that together give the whole's bits", async () => {
    const { outputs, log } = await run({ recipe: 'maskrcnn' }, { recipe: at('recipe.json') });
    const whole = await runPart(at('whole.onnx'), FEEDS);
    let parts: Record<string, Tensor> = FEEDS;
    for (const name of ['backbone', 'box_head', 'mask_head']) parts = await runPart(outputs[name], parts);
    for (const name of PART_OUTPUTS) {
      expect(Buffer.from((parts[name]?.data as Float32Array).buffer).equals(Buffer.from((whole[name]?.data as Float32Array).buffer))).toBe(
        true,
      );
      expect(parts[name]?.dims).toEqual(whole[name]?.dims);
    }
    expect(log).toEqual([]);
  });

  it('cuts at listed values, also inside a part, with the same bits', async () => {
    const features = [0, 1, 2, 3].map(level => `feature_${level}`);
    const rpn = [0, 1, 2, 3, 4].flatMap(level => [`objectness_${level}`, `rpn_deltas_${level}`]);
    const { outputs, log } = await run({
      parts: { body: { inputs: ['image'], outputs: features }, rpn: { inputs: features, outputs: rpn } },
    });
    const whole = await runPart(at('whole.onnx'), FEEDS);
    const parts = await runPart(outputs.rpn, await runPart(outputs.body, FEEDS));
    for (const name of [...features, ...rpn]) expect(parts[name]?.data).toEqual(whole[name]?.data);
    expect(log).toEqual([expect.stringMatching(/^warning: \d+ of \d+ nodes are in no part: Conv "/)]);
  });

  it('reports the nodes of each part, and those in no part', async () => {
    const { outputs } = await run({ parts: { mask: { inputs: ['mask_features'], outputs: ['mask_logits'] } } });
    const report = await readAs(SPLIT_REPORT_SCHEMA, outputs.report);
    // Two convolutions with norm and ReLU, a transposed one with ReLU, and the last convolution.
    expect(report.parts.mask).toMatchObject({ inputs: ['mask_features'], outputs: ['mask_logits'], nodes: 9, initializers: 14 });
    expect(report.inNoPart).toContain('Gemm "class_logits"');
  });

  it('writes the same bytes again', async () => {
    const runs = await Promise.all([1, 2].map(() => run({ recipe: 'maskrcnn' }, { recipe: at('recipe.json') })));
    const [a, b] = await Promise.all(runs.map(({ outputs }) => readFile(outputs.backbone ?? '')));
    expect(a?.equals(b ?? Buffer.of())).toBe(true);
  });

  it.each([
    ['a value that the model lacks', { inputs: ['image'], outputs: ['feature_9'] }, 'unknown-value', 'feature_9'],
    ['a part that needs an input it does not name', { inputs: ['box_features'], outputs: ['feature_0'] }, 'cut-open', 'image'],
  ])('fails on %s, and names it', async (_, part, code, name) => {
    await expect(run({ parts: { part } })).rejects.toMatchObject({ code, message: expect.stringContaining(`"${name}"`) });
  });

  it.each([
    ['a model that is none', { model: 'recipe.json' }, 'model-malformed'],
    ['a recipe that is none', { recipe: 'config.json' }, 'bad-recipe'],
  ])('fails on %s', async (_, inputs, code) => {
    await writeFile(at('config.json'), JSON.stringify(TINY_CONFIG));
    const paths = Object.fromEntries(Object.entries({ recipe: 'recipe.json', ...inputs }).map(([port, name]) => [port, at(name)]));
    await expect(run({ recipe: 'maskrcnn' }, paths)).rejects.toMatchObject({ code });
  });
});

describe("split's params", () => {
  it('give the output ports', () => {
    expect(Object.keys(outputPorts(split, parseParams(split, { recipe: 'maskrcnn' })))).toEqual([
      'backbone',
      'box_head',
      'mask_head',
      'report',
    ]);
  });

  it.each<[string, JsonObject, string]>([
    ['none of recipe and parts', {}, 'give exactly one of `recipe`, `parts` and `cuts: static`'],
    ['a part named report', { parts: { report: { inputs: ['a'], outputs: ['b'] } } }, 'a part cannot be named `report`'],
  ])('refuse %s', (_, params, problem) => {
    expect(() => parseParams(split, params)).toThrow(problem);
  });
});
