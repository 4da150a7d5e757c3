/** Accuracy that rounding and bias correction bring back: ResNet-20 with weights of 4 and 3 bits, judged on images that calibrated nothing. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import type { ModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { quantizeModel } from '../../../src/quant/quantize-model.js';
import { openWeightRounder, pairLayersWithWeight } from '../../../src/quant/recovery/rounding/round-weights.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { classify, normalize, sketchInputs, stack, topOf } from '../../support/classifier.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (...parts: string[]): string => join(shared ?? '', ...parts);

const CLASSES = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];
const BATCH = 50;

function batches(images: readonly Tensor<'float32'>[]): readonly Tensor<'float32'>[] {
  return Array.from({ length: images.length / BATCH }, (_, i) => stack(images.slice(i * BATCH, (i + 1) * BATCH)));
}

suite('ResNet-20, calibrated on every fifth of 1,000 images', () => {
  const path = at('models/cifar-resnet20/cifar_resnet20.onnx');
  let calibration: readonly Tensor<'float32'>[];
  let judged: readonly Tensor<'float32'>[];
  let labels: readonly number[];
  let sketches: ModelSketches;

  beforeAll(async () => {
    const files = CLASSES.flatMap((name, label) =>
      readdirSync(at('images/cifar10', name))
        .sort()
        .map(file => ({ path: at('images/cifar10', name, file), label })),
    );
    const images = await Promise.all(files.map(async file => normalize(await decodeImage(readFileSync(file.path), file.path))));
    calibration = batches(images.filter((_, i) => i % 5 === 0));
    judged = batches(images.filter((_, i) => i % 5 !== 0));
    labels = files.filter((_, i) => i % 5 !== 0).map(({ label }) => label);
    sketches = await sketchInputs(await readModel(path), calibration);
  }, 300_000);

  const countRight = async (model: Model): Promise<number> =>
    (await classify(model, judged)).filter((one, i) => topOf(one) === labels[i]).length;

  async function quantizeTo(bits: number): Promise<Model> {
    const model = await readModel(path);
    const scheme = { ...PRESETS.u8s8, weight: { ...PRESETS.u8s8.weight, perChannel: true, bits } };
    quantizeModel(model, sketches.model, sketches, { scheme, exclude: [], domain: 'ai.onnx' });
    return model;
  }

  async function roundAll(quantized: Model): Promise<void> {
    const float = await readModel(path);
    const input = getValue(float.graph, float.graph.inputs[0] ?? (0 as never)).name;
    const feeds = calibration.map(batch => async () => ({ [input]: batch }));
    const { layers } = pairLayersWithWeight(float, quantized);
    const folder = mkdtempSync(join(tmpdir(), 'tanren-recovery-'));
    const rounder = await openWeightRounder({ float, quantized, layers, samples: { float: feeds, quantized: feeds }, folder }, 0.01);
    for (const _ of layers) await rounder.round();
    rmSync(folder, { recursive: true });
  }

  it('float has 650 of the other 800 right', async () => expect(await countRight(await readModel(path))).toBe(650));

  // Bounds: 1 point (8 images) below float for 4 bits, 5 points (40 images) for 3 bits.
  it.each([
    [4, 650 - 8],
    [3, 650 - 40],
  ])(
    'weights of %p bits keep at least %p, where rounding to nearest does not',
    async (bits, least) => {
      const model = await quantizeTo(bits);
      expect(await countRight(model)).toBeLessThan(least);
      await roundAll(model);
      expect(await countRight(model)).toBeGreaterThanOrEqual(least);
    },
    300_000,
  );
});
