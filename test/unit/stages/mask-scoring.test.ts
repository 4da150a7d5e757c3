/** Export and split of Mask Scoring R-CNN, and its distinction from Mask R-CNN. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { writeSafetensors } from '../../../src/tensor/formats/safetensors.js';
import { exportStage } from '../../../stages/export/stage.js';
import { split } from '../../../stages/split/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, outputPorts, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { TINY_CONFIG, TINY_V2, tinyScoringState, tinyState } from '../../support/tiny-maskrcnn.js';

const PARAMS = { architecture: 'maskscoring', input: [1, 3, 64, 96] } as const;

const folder = givenFolder('mask-scoring');
const at = (name: string): string => join(folder.path, name);
beforeAll(async () => {
  await writeSafetensors(at('scoring.safetensors'), new Map([...tinyScoringState()].map(([key, tensor]) => [`module.${key}`, tensor])));
  await writeSafetensors(at('plain.safetensors'), tinyState(TINY_V2));
  await writeFile(at('config.json'), JSON.stringify(TINY_CONFIG));
});

const exported = (params: JsonObject, checkpoint: string): Promise<StageRun> =>
  runStage(exportStage, { params, inputs: { checkpoint: at(checkpoint), config: at('config.json') }, folder: folder.path });

describe('Mask Scoring R-CNN', () => {
  it('is exported with its head and cut into four parts', async () => {
    const { outputs } = await exported({ ...PARAMS, roiBatch: { maskIou: 2 } }, 'scoring.safetensors');
    expect(await readJsonFile(outputs.report ?? '')).toMatchObject({
      architecture: 'maskscoring',
      layout: 'maskrcnn_resnet50_fpn_v2',
      roiBatch: { box: 'free', mask: 'free', maskIou: 2 },
      parameters: { maskiou_head: expect.any(Number), total: expect.any(Number) },
      network: { maskIouHead: { convs: [5, 4, 6, 3], hidden: [8, 7] } },
      checkpoint: { prefix: 'module.' },
    });
    const inputs = { model: outputs.model ?? '', recipe: outputs.recipe ?? '' };
    const cut = await runStage(split, { params: { recipe: 'maskscoring' }, inputs, folder: folder.path });
    expect(cut.log).toEqual([]);
    expect(Object.keys(cut.outputs)).toEqual(['backbone', 'box_head', 'mask_head', 'maskiou_head', 'report']);
    const error = await failureOf(() => runStage(split, { params: { recipe: 'maskrcnn' }, inputs, folder: folder.path }));
    expect(error).toEqual({
      code: 'recipe-architecture',
      message: 'the host recipe is of architecture maskscoring, the stage has `recipe: maskrcnn`',
      help: 'set `recipe: maskscoring`',
    });
  });

  it('and Mask R-CNN are not taken for each other', async () => {
    const { architecture: _, ...rest } = PARAMS;
    for (const [architecture, checkpoint] of [
      ['maskscoring', 'plain.safetensors'],
      ['maskrcnn', 'scoring.safetensors'],
    ] as const) {
      const error = await failureOf(() => exported({ ...rest, architecture }, checkpoint));
      expect(error).toMatchObject({ code: 'checkpoint-mismatch', message: expect.stringContaining('14 ') });
    }
  });

  it('has its own params, which are refused without such a head', () => {
    expect(() => parseParams(exportStage, { ...PARAMS, architecture: 'maskrcnn', maskInput: 'concat' })).toThrow(
      '`maskInput` has no use: architecture maskrcnn has no MaskIoU head',
    );
    expect(() => parseParams(exportStage, { ...PARAMS, architecture: 'maskrcnn', roiBatch: { maskIou: 4 } })).toThrow(
      '`roiBatch.maskIou` has no use',
    );
    expect(() => parseParams(split, { recipe: 'maskscoring', cuts: 'structure' })).toThrow(
      '`cuts: structure` is for `recipe: maskrcnn` only',
    );
    expect(Object.keys(outputPorts(split, parseParams(split, { recipe: 'maskscoring' })))).toContain('maskiou_head');
  });
});
