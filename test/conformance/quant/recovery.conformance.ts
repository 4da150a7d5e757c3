/** Accuracy that rounding and bias correction bring back on ResNet-20 and MobileNetV2, judged on images that calibrated nothing. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { preprocessImage } from '../../../src/detection/image/preprocessing.js';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import type { ModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { quantizeModel } from '../../../src/quant/quantize-model.js';
import { openBiasCorrector, pairLayersWithBias } from '../../../src/quant/recovery/correct-biases.js';
import { openWeightRounder, pairLayersWithWeight } from '../../../src/quant/recovery/rounding/round-weights.js';
import type { RoundingMethod } from '../../../src/quant/recovery/rounding/rounding-methods.js';
import type { QuantizeParams } from '../../../src/quant/settings/quantize-params.js';
import { domainOf, schemeOf } from '../../../src/quant/settings/scheme-of.js';
import type { NamedTensors } from '../../../src/runtime/session/model-inputs.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../../src/tensor/compare.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { classify, normalize, sketchInputs, stack, topOf } from '../../support/classifier.js';
import { MOBILENETV2 } from '../../support/public-models.js';
import { strideOfPoints } from '../../support/rounds.js';
import { parseParams } from '../../support/run-stage.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (...parts: string[]): string => join(shared ?? '', ...parts);

interface Calibrated {
  readonly path: string;
  readonly calibration: readonly Tensor<'float32'>[];
  readonly sketches: ModelSketches;
}

async function quantizeBy({ path, sketches }: Calibrated, params: JsonObject): Promise<Model> {
  const model = await readModel(path);
  const parsed = parseParams(quantize, params) as QuantizeParams;
  quantizeModel(model, sketches.model, sketches, { scheme: schemeOf(parsed), exclude: [], domain: domainOf(parsed) });
  return model;
}

/** What both methods ask for, in an own folder for intermediate values. */
async function withSweep<T>(
  { path, calibration }: Calibrated,
  work: (float: Model, samples: { readonly float: Feeds; readonly quantized: Feeds }, folder: string) => Promise<T>,
): Promise<T> {
  const float = await readModel(path);
  const [input] = float.graph.inputs.map(id => getValue(float.graph, id).name);
  const feeds = calibration.map(batch => async () => ({ [input ?? '']: batch }));
  const folder = mkdtempSync(join(tmpdir(), 'tanren-recovery-'));
  try {
    return await work(float, { float: feeds, quantized: feeds }, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Feeds = readonly (() => Promise<NamedTensors>)[];

const roundWeights = (calibrated: Calibrated, quantized: Model, method: RoundingMethod): Promise<void> =>
  withSweep(calibrated, async (float, samples, folder) => {
    const { layers } = pairLayersWithWeight(float, quantized);
    const rounder = await openWeightRounder({ float, quantized, layers, samples, folder }, { method, damping: 0.01, iterations: 10 });
    for (const _ of layers) await rounder.round();
  });

const correctBiases = (calibrated: Calibrated, quantized: Model): Promise<void> =>
  withSweep(calibrated, async (float, samples, folder) => {
    const { layers } = pairLayersWithBias(float, quantized);
    const corrector = await openBiasCorrector({ float, quantized, layers, samples, folder });
    for (const _ of layers) await corrector.correct();
  });

/** A case of minutes, which CI leaves out with the other shares of rounds. */
const ofWholeSuite = <T>(row: T): readonly T[] => (strideOfPoints() === 1 ? [row] : []);

type RoundingCase = [method: RoundingMethod, bits: number, least: number];
type RecoveryCase = [
  name: string,
  JsonObject,
  (calibrated: Calibrated, model: Model) => Promise<void>,
  leastDb: number,
  leastAgreement: number,
];

const CLASSES = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];
const BATCH = 50;

function batches(images: readonly Tensor<'float32'>[]): readonly Tensor<'float32'>[] {
  return Array.from({ length: images.length / BATCH }, (_, i) => stack(images.slice(i * BATCH, (i + 1) * BATCH)));
}

suite('ResNet-20, calibrated on every fifth of 1,000 images', () => {
  let calibrated: Calibrated;
  let judged: readonly Tensor<'float32'>[];
  let labels: readonly number[];

  beforeAll(async () => {
    const path = at('models/cifar-resnet20/cifar_resnet20.onnx');
    const files = CLASSES.flatMap((name, label) =>
      readdirSync(at('images/cifar10', name))
        .sort()
        .map(file => ({ path: at('images/cifar10', name, file), label })),
    );
    const images = await Promise.all(files.map(async file => normalize(await decodeImage(readFileSync(file.path), file.path))));
    const calibration = batches(images.filter((_, i) => i % 5 === 0));
    judged = batches(images.filter((_, i) => i % 5 !== 0));
    labels = files.filter((_, i) => i % 5 !== 0).map(({ label }) => label);
    calibrated = { path, calibration, sketches: await sketchInputs(await readModel(path), calibration) };
  }, 300_000);

  const countRight = async (model: Model): Promise<number> =>
    (await classify(model, judged)).filter((one, i) => topOf(one) === labels[i]).length;

  it('float has 650 of the other 800 right', async () => expect(await countRight(await readModel(calibrated.path))).toBe(650));

  // Bounds: 1 point (8 images) below float for 4 bits, 5 points (40 images) for 3 bits. CI plays the harder case of each method.
  it.each<RoundingCase>([
    ...ofWholeSuite<RoundingCase>(['gptq', 4, 650 - 8]),
    ['gptq', 3, 650 - 40],
    ...ofWholeSuite<RoundingCase>(['adaround', 4, 650 - 8]),
    ['adaround', 3, 650 - 40],
  ])(
    'by %s, weights of %p bits keep at least %p, where rounding to nearest does not',
    async (method, bits, least) => {
      const model = await quantizeBy(calibrated, { preset: 'u8s8', weight: { perChannel: true, bits } });
      const before = await countRight(model);
      await roundWeights(calibrated, model, method);
      const after = await countRight(model);
      process.stderr.write(`ResNet-20, ${bits} bits, ${method}: ${before} right before, ${after} after\n`);
      expect(before).toBeLessThan(least);
      expect(after).toBeGreaterThanOrEqual(least);
    },
    900_000,
  );
});

suite('MobileNetV2, calibrated on 16 of 60 photographs', () => {
  let calibrated: Calibrated;
  let judged: readonly Tensor<'float32'>[];
  let float: readonly Float32Array[];

  beforeAll(async () => {
    const path = at('models/mobilenetv2/mobilenetv2_fp32.onnx');
    const folder = at('images/imagenet-val60');
    const files = readFileSync(join(folder, 'labels.txt'), 'utf8')
      .trim()
      .split('\n')
      .sort()
      .map(line => line.split(' ')[0] ?? '');
    const inputs = await Promise.all(
      files.map(
        async file =>
          preprocessImage(await decodeImage(readFileSync(join(folder, file)), file), { height: 244, width: 244 }, MOBILENETV2).tensor,
      ),
    );
    const [calibration, model] = [inputs.slice(0, 16), await readModel(path)];
    calibrated = { path, calibration, sketches: await sketchInputs(model, calibration) };
    judged = inputs.slice(16);
    float = await classify(model, judged);
  }, 300_000);

  async function judge(model: Model): Promise<{ readonly sqnrDb: number; readonly agreement: number }> {
    const int8 = await classify(model, judged);
    let all: Comparison = NO_COMPARISON;
    for (const [i, logits] of float.entries()) all = mergeComparisons(all, compareArrays(logits, int8[i] as Float32Array));
    const agreement = float.filter((logits, i) => topOf(logits) === topOf(int8[i] as Float32Array)).length;
    return { sqnrDb: sqnrDbOf(all), agreement };
  }

  it.each<RecoveryCase>([
    ...ofWholeSuite<RecoveryCase>([
      'a8w8, ranges by squared error, weights rounded by GPTQ',
      { preset: 'a8w8', range: 'mse' },
      (own, model) => roundWeights(own, model, 'gptq'),
      17.5,
      42,
    ]),
    ['xint8, corrected biases', { preset: 'xint8' }, correctBiases, 14, 40],
  ])(
    '%s: the logits reach the SQNR, and as many of 44 agree with float as must',
    async (name, params, recover, leastDb, leastAgreement) => {
      const model = await quantizeBy(calibrated, params);
      const before = await judge(model);
      await recover(calibrated, model);
      const after = await judge(model);
      process.stderr.write(`MobileNetV2, ${name}: ${JSON.stringify({ before, after })}\n`);
      expect(before.sqnrDb).toBeLessThan(leastDb);
      expect(after.sqnrDb).toBeGreaterThanOrEqual(leastDb);
      expect(after.agreement).toBeGreaterThanOrEqual(leastAgreement);
    },
    900_000,
  );
});
