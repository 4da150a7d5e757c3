/** Epsilon of frozen batch norms, which torchvision's published maskrcnn_resnet50_fpn has. Reference: torchvision 0.29.1 with FrozenBatchNorm2d, both epsilons, generated weights. */
import { readFile } from 'node:fs/promises';
import { V2 } from '../../../../../bench/full-size-backbone.js';
import { parseDetectorConfig } from '../../../../../src/detection/families/maskrcnn/config.js';
import { exportMaskRcnn } from '../../../../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import type { MaskRcnnSpec } from '../../../../../src/detection/families/maskrcnn/export/network-spec.js';
import { expectedTensors } from '../../../../../src/detection/families/maskrcnn/export/state-keys.js';
import { encodeModel } from '../../../../../src/onnx/serde/encode-model.js';
import { openSession } from '../../../../../src/runtime/session/session.js';
import { fixturePath } from '../../../../support/fixtures.js';
import { generatedInput, generatedState, type RecordedOutput } from '../../../../support/generated-weights.js';

const V1: MaskRcnnSpec = {
  ...V2,
  bodyNorm: 'frozen',
  pyramid: { channels: 256, norm: 'none' },
  rpn: { depth: 1, anchorsPerCell: 3 },
  boxHead: { form: 'two-fc', convs: [], norm: 'none', hidden: [1024, 1024] },
  maskHead: { convs: [256, 256, 256, 256], norm: 'none', hidden: 256 },
};

describe('maskrcnn_resnet50_fpn with frozen batch norms', () => {
  it.each([0, 1e-5])('equals torchvision with epsilon %p, within 1e-4 of the standard deviation', async frozenEpsilon => {
    const text = await readFile(fixturePath('detection', 'torchvision-frozen.json'), 'utf8');
    const { epsilons } = JSON.parse(text) as { readonly epsilons: Readonly<Record<string, readonly RecordedOutput[]>> };
    const recorded = epsilons[frozenEpsilon === 0 ? '0.0' : '1e-05'] ?? [];
    const { config } = parseDetectorConfig(undefined, 'torchvision');
    const tensors = expectedTensors(V1, config.box.roiSize).filter(
      ({ role, key }) => role !== 'counter' || !key.startsWith('backbone.body.'),
    );
    const state = generatedState(tensors.map(({ key, dims }) => ({ key, shape: dims.map(dim => dim ?? 0) })));
    const options = { height: 96, width: 160, roiBatch: { box: 2, mask: 1 }, fit: 'static', frozenEpsilon } as const;

    const session = await openSession(encodeModel(exportMaskRcnn(state, config, options).model), { optimization: 'all' });
    const outputs = await session.run({
      image: generatedInput('input', [1, 3, 96, 160]),
      box_features: generatedInput('box_features', [2, 256, 7, 7], 2),
      mask_features: generatedInput('mask_features', [1, 256, 14, 14], 2),
    });
    await session.close();

    expect(recorded.map(({ name }) => name).sort()).toEqual([...session.outputNames].sort());
    for (const { name, shape, std, every, samples } of recorded) {
      expect([name, outputs[name]?.dims]).toEqual([name, shape]);
      const data = outputs[name]?.data as Float32Array;
      const worst = Math.max(...samples.map((value, index) => Math.abs(value - (data[index * every] ?? Number.NaN))));
      expect([name, worst / std < 1e-4]).toEqual([name, true]);
    }
  });
});
