/** The stage `export` with YOLACT checkpoints. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { openDetector } from '../../../src/detection/open-detector.js';
import { parseRecipe, readDefinition } from '../../../src/detection/read-definition.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { writeSafetensors } from '../../../src/tensor/formats/safetensors.js';
import { exportStage } from '../../../stages/export/stage.js';
import { runAllValues } from '../../support/all-values.js';
import { generatedInput, generatedWeight } from '../../support/generated-weights.js';
import { givenFolder, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { TINY_V2, tinyState } from '../../support/tiny-maskrcnn.js';
import { TINY_DARKNET, TINY_RESNET, TINY_YOLACT_CONFIG, tinyYolactState } from '../../support/tiny-yolact.js';

const PARAMS = { architecture: 'yolact', input: [1, 3, 74, 74] } as const;
const SEMANTIC = { 'semantic_seg_conv.weight': generatedWeight('w', [2, 6, 1, 1]), 'semantic_seg_conv.bias': generatedWeight('b', [2]) };

const folder = givenFolder('export-yolact');
beforeAll(async () => {
  const write = (name: string, state: Parameters<typeof writeSafetensors>[1]): Promise<void> =>
    writeSafetensors(join(folder.path, name), state);
  await write('resnet.safetensors', new Map([...tinyYolactState(TINY_RESNET), ...Object.entries(SEMANTIC)]));
  await write('darknet.safetensors', tinyYolactState(TINY_DARKNET));
  await write('maskrcnn.safetensors', tinyState(TINY_V2));
  await writeFile(join(folder.path, 'config.json'), JSON.stringify(TINY_YOLACT_CONFIG));
});

function run(params: JsonObject, inputs: Record<string, string>): Promise<StageRun> {
  const paths = Object.fromEntries(Object.entries(inputs).map(([port, path]) => [port, join(folder.path, path)]));
  return runStage(exportStage, { params, inputs: paths, folder: folder.path });
}

describe('export of YOLACT', () => {
  it.each(['resnet', 'darknet'])('writes a %s model that ONNX Runtime runs, with every value as large as declared', async name => {
    const { outputs } = await run(PARAMS, { checkpoint: `${name}.safetensors`, config: 'config.json' });
    const { declared, results, nodes } = await runAllValues(await readFile(outputs.model ?? ''), {
      image: generatedInput('image', [1, 3, 74, 74]),
    });
    expect(Object.keys(results).length).toBe(nodes);
    for (const [value, result] of Object.entries(results)) {
      const type = declared.get(value);
      expect([value, type?.kind === 'tensor' ? type.dims : undefined]).toEqual([value, result.dims]);
    }
  });

  it('writes a recipe with which a detector opens and finds objects', async () => {
    const { outputs } = await run(PARAMS, { checkpoint: 'resnet.safetensors', config: 'config.json' });
    const definition = readDefinition({ recipe: await readJsonFile(outputs.recipe ?? '') });
    expect(readDefinition(definition.files).files).toEqual(definition.files);
    const image = { width: 40, height: 30, data: new Uint8Array(3600).map((_, index) => (index * 37) % 256) };
    const detector = await openDetector(
      { definition, models: { kind: 'parts', parts: { network: outputs.model ?? '' } } },
      { optimization: 'all' },
    );
    const { inputs, outputs: values, objects } = await detector.trace(image);
    expect(await detector.findInputs(image)).toEqual(inputs);
    const pixel = await detector.trace({ width: 1, height: 1, data: new Uint8Array([9, 99, 199]) });
    expect(pixel.objects.boxes.every(side => side === 0 || side === 1)).toBe(true);
    await detector.close();
    expect(inputs.network).toEqual(definition.prepareInput(image));
    expect(Object.keys(values.network ?? {})).toHaveLength(16);
    expect(objects.masks.kind === 'runs' ? objects.masks.masks.map(({ height, width }) => [height, width]) : []).toEqual(
      [...objects.scores].map(() => [30, 40]),
    );
    for (const label of objects.labels) expect([3, 8]).toContain(label);
  });

  it('warns of ignored tensors, and reports layout, priors and upsamplings', async () => {
    const { outputs, log } = await run(PARAMS, { checkpoint: 'resnet.safetensors', config: 'config.json' });
    expect(log).toEqual(['info: ignored 2 tensors (training only): semantic_seg_conv.bias, semantic_seg_conv.weight']);
    expect(await readJsonFile(outputs.report ?? '')).toMatchObject({
      architecture: 'yolact',
      layout: 'mixed',
      priors: 3 * (100 + 25 + 9 + 4 + 1),
      upsampling: ['3 to 5', 'x2'],
      checkpoint: { ignored: [{ key: 'semantic_seg_conv.bias', why: 'training only' }, { key: 'semantic_seg_conv.weight' }] },
      network: TINY_RESNET,
    });
  });

  it('fills a config from named defaults, and lists the filled values', async () => {
    const { detection: _, ...config } = TINY_YOLACT_CONFIG;
    await writeFile(join(folder.path, 'without.json'), JSON.stringify(config));
    const { log, outputs } = await run({ ...PARAMS, defaults: 'yolact' }, { checkpoint: 'darknet.safetensors', config: 'without.json' });
    expect(log).toEqual([
      'warning: 5 config values are YOLACT\'s defaults: detection.nms = "fast", detection.scoreThreshold = 0.05, detection.nmsThreshold = 0.5, detection.topK = 200, detection.maxDetections = 100',
    ]);
    expect(parseRecipe(await readJsonFile(outputs.recipe ?? ''))).toMatchObject({ config: TINY_YOLACT_CONFIG });
  });

  it.each([
    ['a checkpoint of Mask R-CNN', PARAMS, 'maskrcnn.safetensors', 'checkpoint-mismatch'],
    ['an input that is no square', { ...PARAMS, input: [1, 3, 64, 96] }, 'resnet.safetensors', 'input-size'],
  ])('fails on %s', async (_, params, checkpoint, code) => {
    await expect(run(params, { checkpoint, config: 'config.json' })).rejects.toMatchObject({ code });
  });

  it.each([
    [{ ...PARAMS, defaults: 'torchvision' }, '`defaults: torchvision` is not for architecture yolact'],
    [
      { architecture: 'maskrcnn', input: [1, 3, 64, 64], defaults: 'yolact-im700' },
      '`defaults: yolact-im700` is not for architecture maskrcnn',
    ],
    [{ ...PARAMS, roiBatch: { box: 4 } }, 'architecture yolact has no RoI heads'],
    [{ ...PARAMS, fit: 'torchvision' }, 'stretches every image'],
    [{ ...PARAMS, frozenBatchNormEpsilon: 0 }, 'has no frozen batch norms'],
  ])('refuses params that do not fit: %j', (params, message) => {
    expect(() => parseParams(exportStage, params)).toThrow(message);
  });

  it('rejects a fit policy, and a config of another network', async () => {
    const { outputs } = await run(PARAMS, { checkpoint: 'resnet.safetensors', config: 'config.json' });
    const recipe = await readJsonFile(outputs.recipe ?? '');
    expect(() => readDefinition({ recipe, fit: 'static' })).toThrow('has no fit policy "static"');
    const config = JSON.parse(JSON.stringify({ ...TINY_YOLACT_CONFIG, categories: [{ id: 1, name: 'one' }] })) as JsonObject;
    expect(() => readDefinition({ recipe, config })).toThrow('classes, background included: 2, the model was built for 3');
  });
});
