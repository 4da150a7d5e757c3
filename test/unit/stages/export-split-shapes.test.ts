/** The checkpoint of the example, exported and split. */
import { readFile } from 'node:fs/promises';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { exportStage } from '../../../stages/export/stage.js';
import { split } from '../../../stages/split/stage.js';
import { PART_OUTPUTS } from '../../support/detector-parts.js';
import { generatedInput } from '../../support/generated-weights.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const folder = givenFolder('shapes');

async function runModel(path: string | undefined, feeds: Record<string, Tensor>): Promise<Record<string, Tensor>> {
  const session = await openSession(path ?? '', { optimization: 'basic' });
  const results = await session.run(Object.fromEntries(session.inputNames.map(name => [name, feeds[name]])) as Record<string, Tensor>);
  await session.close();
  return results;
}

describe("the example's checkpoint", () => {
  it("is exported and split into parts that give the whole's bits", async () => {
    const whole = await runStage(exportStage, {
      params: { architecture: 'maskrcnn', input: [1, 3, 192, 256] },
      inputs: { checkpoint: 'examples/shapes/models/maskrcnn-shapes.safetensors', config: 'examples/shapes/models/maskrcnn-shapes.json' },
      folder: folder.path,
    });
    const inputs = { model: whole.outputs.model, recipe: whole.outputs.recipe };
    const parts = await runStage(split, { params: { recipe: 'maskrcnn' }, inputs, folder: folder.path });

    const feeds = {
      image: generatedInput('image', [1, 3, 192, 256]),
      box_features: generatedInput('box_features', [7, 32, 7, 7], 2),
      mask_features: generatedInput('mask_features', [3, 32, 14, 14], 2),
    };
    const expected = await runModel(whole.outputs.model, feeds);
    const actual: Record<string, Tensor> = {};
    for (const name of ['backbone', 'box_head', 'mask_head']) Object.assign(actual, await runModel(parts.outputs[name], feeds));
    expect(Object.keys(actual).sort()).toEqual([...PART_OUTPUTS].sort());
    for (const name of PART_OUTPUTS) expect(bitsOf(actual[name]).equals(bitsOf(expected[name]))).toBe(true);
    expect(await readJsonFile(whole.outputs.report ?? '')).toMatchObject({
      parameters: { total: 951_207 },
      layout: 'maskrcnn_resnet50_fpn_v2',
    });
  });

  it("is a model of opset 17 whose weights are the file's own bytes", async () => {
    const { outputs } = await runStage(exportStage, {
      params: { architecture: 'maskrcnn', input: [1, 3, 192, 256], roiBatch: { box: 200, mask: 100 } },
      inputs: { checkpoint: 'examples/shapes/models/maskrcnn-shapes.safetensors', config: 'examples/shapes/models/maskrcnn-shapes.json' },
      folder: folder.path,
    });
    const model = decodeModel(await readFile(outputs.model ?? ''));
    expect(model.opsets.get('')).toBe(17);
    const weight = [...model.graph.values.values()].find(value => value.name === 'rpn.head.conv.1.0.weight')?.constant;
    const file = await readFile('examples/shapes/models/maskrcnn-shapes.safetensors');
    expect(weight !== undefined && 'bytes' in weight && file.includes(Buffer.from(weight.bytes))).toBe(true);
  });
});

function bitsOf(tensor: Tensor | undefined): Buffer {
  const data = tensor?.data as Float32Array;
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
