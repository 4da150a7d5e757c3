/** torchvision's own ONNX export of the whole detector, imported and split, against what torchvision computed between the parts and found on the whole set. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { importStage } from '../../../stages/import/stage.js';
import { split } from '../../../stages/split/stage.js';
import { PART_OUTPUTS, recordedFeeds, relativeError } from '../../support/detector-parts.js';
import { givenFolder, runStage, type StageRun } from '../../support/run-stage.js';
import { exportShapes, SHAPES_FOLDER } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const folderOf = (name: string): string => join(shared ?? '', 'shapes', name);
const PARTS = ['backbone', 'box_head', 'mask_head'] as const;

type Figures = Readonly<Record<'bbox' | 'segm', Readonly<Record<string, number>>>>;

suite("torchvision's export of the trained narrow Mask R-CNN", () => {
  const config = folderOf('maskrcnn/maskrcnn-shapes.json');
  const folder = givenFolder('torchvision-export');
  let taken: StageRun;
  beforeAll(async () => {
    const model = folderOf('maskrcnn/maskrcnn-shapes-torchvision.onnx');
    const imported = await runStage(importStage, { params: {}, inputs: { model }, folder: folder.path });
    const inputs = { model: imported.outputs.model, config };
    taken = await runStage(split, { params: { recipe: 'maskrcnn', cuts: 'structure' }, inputs, folder: folder.path });
  });

  it('is the file that the example has', async () => {
    const [ours, theirs] = await Promise.all(
      [join(SHAPES_FOLDER, 'models/maskrcnn-shapes-torchvision.onnx'), folderOf('maskrcnn/maskrcnn-shapes-torchvision.onnx')].map(path =>
        readFile(path),
      ),
    );
    expect(ours?.equals(theirs ?? Buffer.alloc(0))).toBe(true);
  });

  it('has the recipe of our export', async () => {
    expect(await readJsonFile(taken.outputs.recipe ?? '')).toEqual((await exportShapes()).recipe);
  });

  it.each([1000, 1007, 1014])('gives, part by part, what torchvision gives on image %i', async image => {
    const stages = await readNpz(folderOf(`maskrcnn/stages_${image}.npz`));
    const feeds = recordedFeeds(stages);
    const seen: string[] = [];
    for (const part of PARTS) {
      const session = await openSession(taken.outputs[part] ?? '', { optimization: 'all' });
      const outputs = await session.run(Object.fromEntries(session.inputNames.map(name => [name, feeds[name] as Tensor])));
      await session.close();
      for (const [name, tensor] of Object.entries(outputs)) {
        seen.push(name);
        expect([name, relativeError(stages.getFloat32(name).data, tensor.data as Float32Array)]).toEqual([name, expect.closeTo(0, 4)]);
      }
    }
    expect(seen).toEqual(PART_OUTPUTS);
  });

  it('gives the detections of torchvision on all 200 images', async () => {
    const parts = Object.fromEntries(PARTS.map(part => [part, taken.outputs[part] ?? '']));
    const data = { annotations: folderOf('data/instances_val.json'), images: folderOf('data/val') };
    const { outputs } = await runStage(evaluate, {
      params: {},
      inputs: { parts, recipe: taken.outputs.recipe, config, data },
      folder: folder.path,
    });
    const metrics = (await readJsonFile(outputs.metrics ?? '')) as unknown as Figures & { readonly detections: number };
    const { figures } = (await readJsonFile(folderOf('maskrcnn/figures_val.json'))) as unknown as { readonly figures: Figures };
    expect(metrics.detections).toBe(3878);
    // A score that rounds otherwise may swap two detections: a few ten-thousandths.
    for (const kind of ['bbox', 'segm'] as const)
      for (const [name, value] of Object.entries(figures[kind]))
        expect([kind, name, metrics[kind][name]]).toEqual([kind, name, expect.closeTo(value, 3)]);
  });
});
