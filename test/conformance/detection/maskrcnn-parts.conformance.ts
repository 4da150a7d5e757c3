/** The parts of an exported Mask R-CNN equal those of torchvision, and checkpoints of other networks are refused. */
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { parseDetectorConfig } from '../../../src/detection/families/maskrcnn/config.js';
import { exportMaskRcnn } from '../../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { openSession, type Session } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { readStateDict, selectStateDict } from '../../../src/tensor/formats/state-dict.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { PART_OUTPUTS, recordedFeeds, relativeError } from '../../support/detector-parts.js';
import { generatedInput, generatedState, type RecordedNetwork } from '../../support/generated-weights.js';
import { addOutputByName } from '../../support/model-outputs.js';
import { findSharedFolder } from '../../support/shared-folder.js';

/** Within 5e-5 of the recorded standard deviation: ours differs from torch in the order of float32 sums alone. */
const EQUAL = expect.closeTo(0, 4);

const shared = findSharedFolder() ?? '';
const suite = shared === '' ? describe.skip : describe;

const NARROW = { height: 192, width: 256, roiBatch: { box: 'free', mask: 'free' }, fit: 'static', frozenEpsilon: undefined } as const;

suite('the trained narrow Mask R-CNN', () => {
  let session: Session;
  const folder = join(shared, 'shapes/maskrcnn');
  beforeAll(async () => {
    const { config } = parseDetectorConfig(await readJsonFile(join(folder, 'maskrcnn-shapes.json')), undefined);
    const exported = exportMaskRcnn(await readStateDict(join(folder, 'maskrcnn-shapes.safetensors')), config, NARROW);
    expect(exported.parameters.total).toBe(951_207);
    addOutputByName(exported.model, 'feature_pool');
    session = await openSession(encodeModel(exported.model), { optimization: 'all' });
  });
  afterAll(() => session.close());

  it.each([1000, 1007, 1014])('equals torchvision part by part on image %i', async image => {
    const stages = await readNpz(join(folder, `stages_${image}.npz`));
    const outputs = await session.run(recordedFeeds(stages));
    for (const name of [...PART_OUTPUTS, 'feature_pool']) {
      expect([name, relativeError(stages.getFloat32(name).data, outputs[name]?.data as Float32Array)]).toEqual([
        name,
        expect.closeTo(0, 4),
      ]);
    }
  });
});

suite('the same weights in another file', () => {
  it('give the same bytes: torch checkpoint and safetensors', async () => {
    const folder = join(shared, 'shapes/maskrcnn');
    const { config } = parseDetectorConfig(await readJsonFile(join(folder, 'maskrcnn-shapes.json')), undefined);
    const [a, b] = await Promise.all(
      ['maskrcnn-shapes.safetensors', 'maskrcnn-shapes.pth'].map(async file => {
        const { tensors } = selectStateDict(await readStateDict(join(folder, file)), 'backbone.body.conv1.weight');
        return digestBytes(encodeModel(exportMaskRcnn(tensors, config, NARROW).model));
      }),
    );
    expect(a).toBe(b);
  });

  it('with a rescaled tensor give another model with the same nodes', async () => {
    const folder = join(shared, 'shapes/maskrcnn');
    const { config } = parseDetectorConfig(await readJsonFile(join(folder, 'maskrcnn-shapes.json')), undefined);
    const [a, b] = await Promise.all(
      ['maskrcnn-shapes.safetensors', 'maskrcnn-shapes-rescaled.safetensors'].map(async file =>
        exportMaskRcnn(await readStateDict(join(folder, file)), config, NARROW),
      ),
    );
    expect(b?.network).toEqual(a?.network);
    expect(b?.recipe).toEqual(a?.recipe);
  });

  it('of another network are refused', async () => {
    const { config } = parseDetectorConfig(undefined, 'torchvision');
    for (const file of ['mask-scoring/maskscoring-shapes.safetensors', 'yolact/yolact-shapes.pth']) {
      const state = await readStateDict(join(shared, 'shapes', file));
      expect(() => exportMaskRcnn(state, config, NARROW)).toThrow(expect.objectContaining({ code: 'checkpoint-mismatch' }));
    }
  });
});

interface Recording extends RecordedNetwork {
  readonly parameters: number;
}

suite('full-size networks with generated weights', () => {
  it.each(['maskrcnn_resnet50_fpn_v2', 'maskrcnn_resnet50_fpn'])('%s equals torchvision at 544×960', async name => {
    const recording = (await readJsonFile(join(shared, 'fullsize', `${name}.json`))) as unknown as Recording;
    const { config } = parseDetectorConfig(undefined, 'torchvision');
    const options = { height: 544, width: 960, roiBatch: { box: 16, mask: 4 }, fit: 'static', frozenEpsilon: undefined } as const;
    const exported = exportMaskRcnn(generatedState(recording.state), config, options);
    expect(exported.parameters.total).toBe(recording.parameters);
    addOutputByName(exported.model, 'feature_pool');

    const session = await openSession(encodeModel(exported.model), { optimization: 'all' });
    const outputs = await session.run({
      image: generatedInput('input', [1, 3, 544, 960]),
      box_features: generatedInput('box_features', [16, 256, 7, 7], 2),
      mask_features: generatedInput('mask_features', [4, 256, 14, 14], 2),
    });
    await session.close();
    for (const output of recording.outputs) expect([output.name, worstSample(output, outputs[output.name])]).toEqual([output.name, EQUAL]);
  });
});

/** Largest difference of a recorded sample, over the recorded standard deviation; NaN where shapes differ. */
function worstSample({ shape, std, every, samples }: Recording['outputs'][number], tensor: Tensor | undefined): number {
  if (tensor === undefined || tensor.dims.join() !== shape.join()) return Number.NaN;
  const data = tensor.data as Float32Array;
  return Math.max(...samples.map((sample, index) => Math.abs(sample - (data[index * every] ?? Number.NaN)))) / std;
}
