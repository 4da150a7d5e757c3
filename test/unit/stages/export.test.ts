/** The stage `export` with Mask R-CNN checkpoints. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { parseRecipe } from '../../../src/detection/read-definition.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { writeSafetensors } from '../../../src/tensor/formats/safetensors.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { exportStage } from '../../../stages/export/stage.js';
import { runAllValues } from '../../support/all-values.js';
import { generatedInput } from '../../support/generated-weights.js';
import { givenFolder, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { TINY_CONFIG, TINY_V1, TINY_V2, tinyState } from '../../support/tiny-maskrcnn.js';

const PARAMS = { architecture: 'maskrcnn', input: [1, 3, 64, 96] } as const;

const folder = givenFolder('export');
beforeAll(async () => {
  await writeSafetensors(join(folder.path, 'v2.safetensors'), tinyState(TINY_V2));
  await writeSafetensors(join(folder.path, 'v1.safetensors'), tinyState(TINY_V1));
  await writeSafetensors(
    join(folder.path, 'prefixed.safetensors'),
    new Map([...tinyState(TINY_V2)].map(([key, tensor]) => [`model.${key}`, tensor])),
  );
  await writeConfig('config.json', TINY_CONFIG as unknown as Json);
});

const writeConfig = (name: string, config: Json): Promise<void> => writeFile(join(folder.path, name), JSON.stringify(config));

function run(params: JsonObject, inputs: Record<string, string>): Promise<StageRun> {
  const paths = Object.fromEntries(Object.entries(inputs).map(([port, path]) => [port, join(folder.path, path)]));
  return runStage(exportStage, { params, inputs: paths, folder: folder.path });
}

describe('export', () => {
  it('writes a model that ONNX Runtime runs, with every value as large as declared', async () => {
    const { outputs } = await run(PARAMS, { checkpoint: 'v2.safetensors', config: 'config.json' });
    const { declared, results, nodes } = await runAllValues(await readFile(outputs.model ?? ''), {
      image: generatedInput('image', [1, 3, 64, 96]),
      box_features: generatedInput('box_features', [2, 6, 7, 7]),
      mask_features: makeTensor('float32', [0, 6, 14, 14], new Float32Array(0)),
    });
    const batches: Record<string, number> = { box_rois: 2, mask_rois: 0 };
    expect(Object.keys(results).length).toBe(nodes);
    for (const [name, result] of Object.entries(results)) {
      const type = declared.get(name);
      const dims = type?.kind === 'tensor' ? type.dims?.map(dim => (typeof dim === 'string' ? batches[dim] : dim)) : undefined;
      expect([name, result.dims]).toEqual([name, dims]);
    }
  });

  it('writes the same bytes again', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => run(PARAMS, { checkpoint: 'v2.safetensors', config: 'config.json' })));
    for (const port of ['model', 'recipe', 'report']) {
      expect((await readFile(a?.outputs[port] ?? '')).equals(await readFile(b?.outputs[port] ?? ''))).toBe(true);
    }
  });

  it('reports sizes, parameters and the origin of every config value', async () => {
    const { rpn: _, ...config } = TINY_CONFIG;
    await writeConfig('without-rpn.json', config as unknown as Json);
    const { outputs, log } = await run(
      { ...PARAMS, defaults: 'torchvision' },
      { checkpoint: 'v2.safetensors', config: 'without-rpn.json' },
    );
    const report = (await readJsonFile(outputs.report ?? '')) as unknown as {
      layout: string;
      network: unknown;
      operators: Record<string, number>;
      config: { field: string; value: Json; from: string }[];
    };
    expect(report.layout).toBe('maskrcnn_resnet50_fpn_v2');
    expect(report.network).toEqual(TINY_V2);
    expect(report.operators).toMatchObject({ MaxPool: 2, Resize: 3, ConvTranspose: 1, Gemm: 3 });
    expect(report.config.filter(({ from }) => from === 'torchvision').map(({ field }) => field)).toEqual([
      'rpn.preNmsTopN',
      'rpn.postNmsTopN',
      'rpn.nmsThreshold',
      'rpn.scoreThreshold',
    ]);
    expect(log).toEqual([
      "warning: 4 config values are torchvision's defaults: rpn.preNmsTopN = 1000, rpn.postNmsTopN = 1000, rpn.nmsThreshold = 0.7, rpn.scoreThreshold = 0",
    ]);
  });

  it('logs nothing if the config has every field', async () => {
    expect((await run(PARAMS, { checkpoint: 'v2.safetensors', config: 'config.json' })).log).toEqual([]);
  });

  it('writes a recipe with the given RoI batches and frozen epsilon', async () => {
    const { outputs } = await run(
      { ...PARAMS, roiBatch: { box: 8 }, fit: 'torchvision', frozenBatchNormEpsilon: 0 },
      { checkpoint: 'v1.safetensors', config: 'config.json' },
    );
    const recipe = parseRecipe(await readJsonFile(outputs.recipe ?? ''));
    expect(recipe).toMatchObject({ boxHead: { batch: 8 }, maskHead: { batch: 'free' }, image: { fit: 'torchvision' } });
    const model = decodeModel(await readFile(outputs.model ?? ''));
    const epsilons = new Set([...model.graph.nodes.values()].map(node => node.attributes.get('epsilon')).filter(one => one !== undefined));
    expect([...epsilons].map(one => (one.kind === 'float' ? one.value : undefined))).toContain(0);
  });

  it('removes a prefix that all keys have, with a warning', async () => {
    const { outputs, log } = await run(PARAMS, { checkpoint: 'prefixed.safetensors', config: 'config.json' });
    expect(log).toEqual(['info: removed the prefix "model." of the checkpoint\'s keys']);
    expect(await readJsonFile(outputs.report ?? '')).toMatchObject({ checkpoint: { prefix: 'model.' } });
  });

  it.each([
    ['a checkpoint that is none', 'config.json', 'config.json', 'unknown-format'],
    ['a missing checkpoint', 'no.safetensors', 'config.json', 'file-missing'],
    ['a config that is no JSON', 'v2.safetensors', 'v2.safetensors', 'json-malformed'],
    ['a frozen body without epsilon', 'v1.safetensors', 'config.json', 'frozen-epsilon'],
  ])('fails on %s', async (_, checkpoint, config, code) => {
    await expect(run(PARAMS, { checkpoint, config })).rejects.toMatchObject({ code });
  });

  it('fails on a truncated checkpoint', async () => {
    const bytes = await readFile(join(folder.path, 'v2.safetensors'));
    await writeFile(join(folder.path, 'truncated.safetensors'), bytes.subarray(0, bytes.length - 5));
    const failed = run(PARAMS, { checkpoint: 'truncated.safetensors', config: 'config.json' });
    await expect(failed).rejects.toMatchObject({
      code: expect.stringMatching(/^(truncated|safetensors-malformed)$/),
      message: expect.stringContaining('input "checkpoint": '),
    });
  });
});

describe("export's params", () => {
  it('reject other batches and channels than 1 and 3', () => {
    expect(() => parseParams(exportStage, { architecture: 'maskrcnn', input: [2, 1, 64, 96] })).toThrow(
      /input\[0\] is the batch.*\n.*input\[1\] is the number of color channels/,
    );
  });

  it('make the config optional with named `defaults`', () => {
    const portsOf = (params: JsonObject): boolean | undefined => {
      const { inputs } = exportStage;
      return typeof inputs === 'function' ? inputs(parseParams(exportStage, params)).config?.optional : undefined;
    };
    expect(portsOf(PARAMS)).toBe(false);
    expect(portsOf({ ...PARAMS, defaults: 'torchvision' })).toBe(true);
  });
});
