/** Accuracy of int8 classifiers: MobileNetV2 on photographs against onnxruntime.quantization, ResNet-20 on CIFAR-10 against float. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { preprocessImage } from '../../../src/detection/image/preprocessing.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import type { ModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { quantizeModel } from '../../../src/quant/quantize-model.js';
import type { QuantizeParams } from '../../../src/quant/settings/quantize-params.js';
import { domainOf, schemeOf } from '../../../src/quant/settings/scheme-of.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../../src/tensor/compare.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { classify, normalize, sketchInputs, stack, topOf } from '../../support/classifier.js';
import { maxDifference } from '../../support/max-difference.js';
import { MOBILENETV2 } from '../../support/public-models.js';
import { parseParams } from '../../support/run-stage.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (...parts: string[]): string => join(shared ?? '', ...parts);

async function quantizeBy(path: string, sketches: ModelSketches, params: JsonObject): Promise<Model> {
  const model = await readModel(path);
  const parsed = parseParams(quantize, params) as QuantizeParams;
  quantizeModel(model, sketches.model, sketches, { scheme: schemeOf(parsed), exclude: [], domain: domainOf(parsed) });
  return model;
}

suite('MobileNetV2 on 60 photographs', () => {
  const path = at('models/mobilenetv2/mobilenetv2_fp32.onnx');
  const folder = at('images/imagenet-val60');
  let inputs: readonly Tensor<'float32'>[];
  let float: readonly Float32Array[];
  let sketches: ModelSketches;
  let labels: readonly number[];

  beforeAll(async () => {
    const lines = readFileSync(join(folder, 'labels.txt'), 'utf8').trim().split('\n').sort();
    labels = lines.map(line => Number(line.split(' ')[1]));
    inputs = await Promise.all(lines.map(line => preprocess(line.split(' ')[0] ?? '')));
    const model = await readModel(path);
    float = await classify(model, inputs);
    sketches = await sketchInputs(model, inputs.slice(0, 16));
  }, 300_000);

  async function preprocess(file: string): Promise<Tensor<'float32'>> {
    return preprocessImage(await decodeImage(readFileSync(join(folder, file)), file), { height: 244, width: 244 }, MOBILENETV2).tensor;
  }

  it('the input equals the recorded one, and float reaches the recorded accuracy', async () => {
    const sample = await readNpz(at('models/mobilenetv2/sample.npz'));
    const [input, output] = [sample.getFloat32('input:image'), sample.getFloat32('output:scores')];
    // Normalization with another order of float32 operations.
    expect(maxDifference(inputs[0]?.data ?? [], input.data)).toBeLessThan(1e-6);
    expect(maxDifference(float[0] ?? [], output.data)).toBeLessThan(1e-3);
    expect(labels.filter((label, i) => label === topOf(float[i] as Float32Array))).toHaveLength(45);
  });

  it.each<[string, JsonObject, number]>([
    ['s8s8sym-minmax (a8w8)', { preset: 'a8w8' }, 55],
    ['u8s8-minmax', { preset: 'u8s8' }, 55],
    ['u8s8-minmax-perchannel', { preset: 'u8s8', weight: { perChannel: true } }, 55],
  ])(
    '%s: agrees with float, and its logits are at most 0.5 dB below the recorded SQNR',
    async (config, params, least) => {
      const int8 = await classify(await quantizeBy(path, sketches, params), inputs);
      const recorded = JSON.parse(readFileSync(at('models/mobilenetv2/int8_baseline.json'), 'utf8')).configs[config];
      let all: Comparison = NO_COMPARISON;
      for (const [i, logits] of float.entries()) all = mergeComparisons(all, compareArrays(logits, int8[i] as Float32Array));
      expect(sqnrDbOf(all)).toBeGreaterThanOrEqual(recorded.logit_sqnr_db - 0.5);
      expect(float.filter((logits, i) => topOf(logits) === topOf(int8[i] as Float32Array)).length).toBeGreaterThanOrEqual(least);
    },
    120_000,
  );
});

suite('ResNet-20 on 1,000 images of CIFAR-10', () => {
  const path = at('models/cifar-resnet20/cifar_resnet20.onnx');
  const classes = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];
  const BATCH = 50;
  let batches: readonly Tensor<'float32'>[];
  let labels: readonly number[];
  let sketches: ModelSketches;
  let model: Model;

  beforeAll(async () => {
    const files = classes.flatMap((name, label) =>
      readdirSync(at('images/cifar10', name))
        .sort()
        .map(file => ({ path: at('images/cifar10', name, file), label })),
    );
    const images = await Promise.all(files.map(async file => normalize(await decodeImage(readFileSync(file.path), file.path))));
    labels = files.map(({ label }) => label);
    batches = Array.from({ length: images.length / BATCH }, (_, i) => stack(images.slice(i * BATCH, (i + 1) * BATCH)));
    model = await readModel(path);
    // Ten images of each class, spread over the files.
    sketches = await sketchInputs(
      model,
      classes.map((_, label) => stack(images.filter((_image, i) => labels[i] === label && i % 10 === 0))),
    );
  }, 300_000);

  const countRight = (logits: readonly Float32Array[]): number => logits.filter((one, i) => topOf(one) === labels[i]).length;

  it('float reaches the recorded accuracy', async () => {
    expect(countRight(await classify(model, batches))).toBe(804);
  });

  it.each<[string, JsonObject]>([
    ['u8s8 per channel', { preset: 'u8s8', weight: { perChannel: true } }],
    ['a8w8', { preset: 'a8w8' }],
    ['xint8', { preset: 'xint8' }],
    ['a16w8', { preset: 'a16w8' }],
  ])('%s loses at most 5 of them, half a point', async (_name, params) => {
    expect(countRight(await classify(await quantizeBy(path, sketches, params), batches))).toBeGreaterThanOrEqual(804 - 5);
  });
});
