/** Conformance of simplify on public models. Oracles: their published simplified versions, ONNX Runtime on the original models, recorded outputs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSigmoidOutputs } from '../../../src/onnx/analysis/sigmoid-outputs.js';
import type { Model, ValueId } from '../../../src/onnx/ir/model.js';
import { scopesOf } from '../../../src/onnx/ir/scope.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { compareModels, type OutputComparison } from '../../../src/runtime/compare/compare-models.js';
import { findInequality } from '../../../src/runtime/compare/equality.js';
import { makeRandomFeeds } from '../../../src/runtime/feeds/random-feeds.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { listProblems } from '../../support/look-at-model.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { randomFloats } from '../../support/small-model.js';

const shared = findSharedFolder();
const at = (path: string): string => join(shared ?? '', path);
const ROUNDING = SIMPLIFY_PASSES.filter(pass => pass.proof !== 'exact').map(pass => pass.name);

async function simplified(path: string, skip: readonly string[]): Promise<Model> {
  const model = await readModel(at(path));
  await simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20, skip });
  return model;
}

/** The recorded preprocessed input, as float32. */
async function sampleInput(folder: string, name: string): Promise<Readonly<Record<string, Tensor>>> {
  const archive = await readNpz(at(`models/${folder}/sample.npz`));
  const { dims, data } = archive.get(`input:${name}`);
  return { [name]: makeTensor('float32', dims, Float32Array.from(data as ArrayLike<number>)) };
}

const random = (): (() => number) => {
  const { data } = randomFloats([4096], 5);
  let next = 0;
  return () => ((data[next++ % data.length] ?? 0) + 1) / 2;
};

const worst = (outputs: Readonly<Record<string, OutputComparison>>): number =>
  Math.max(...Object.values(outputs).map(({ maxAbs }) => maxAbs));

const nameOfInput = ({ graph }: Model): string => graph.values.get(graph.inputs[0] as ValueId)?.name ?? '';

interface Case {
  readonly path: string;
  /** Input of the recorded sample; Default: random inputs. */
  readonly sample?: readonly [folder: string, input: string];
  readonly nodes: number;
  readonly sizes?: Readonly<Record<string, number>>;
}

const ULTRAFACE = 'models/ultraface/version-RFB-320';
const CASES: readonly Case[] = [
  { path: `${ULTRAFACE}_without_postprocessing.onnx`, sample: ['ultraface', 'input'], nodes: 110 },
  { path: `${ULTRAFACE}.onnx`, sample: ['ultraface', 'input'], nodes: 125 },
  { path: 'models/picodet/picodet_s_320_coco.onnx', sample: ['picodet', 'image'], nodes: 632 },
  { path: 'models/yolox-nano/yolox_nano.onnx', sample: ['yolox-nano', 'images'], nodes: 365 },
  { path: 'models/fastestdet/FastestDet.onnx', sample: ['fastestdet', 'input.1'], nodes: 172 },
  { path: 'models/maskrcnn2go/maskrcnn2go_deq_fp32.onnx', sample: ['maskrcnn2go', 'data'], nodes: 281 },
  { path: 'models/mobilenetv2/qdq_reference/model.onnx', sample: ['mobilenetv2', 'image'], nodes: 348 },
  { path: 'models/cifar-resnet20/cifar_resnet20.onnx', sample: ['cifar-resnet20', 'input'], nodes: 54 },
  { path: 'shapes/yolact/yolact-shapes-cut.onnx', nodes: 93 },
  { path: 'shapes/maskrcnn/maskrcnn-shapes-torchvision.onnx', nodes: 598 },
];

/** The published twin of UltraFace differs from its source by 1.4e-5; sums of hundreds of products in single precision round so. */
const TOLERANCE = 2e-5;

(shared === undefined ? describe.skip : describe)('simplify on public models', () => {
  it.each(CASES.map(testCase => [testCase.path, testCase] as const))('%s: fewer nodes, the same outputs', async (path, {
    sample,
    nodes,
  }) => {
    const model = await simplified(path, []);
    expect(model.graph.nodes.size).toBeLessThanOrEqual(nodes);
    const feeds =
      sample === undefined ? makeRandomFeeds(model, { random: random(), sizes: {}, freeSize: 1 }) : await sampleInput(...sample);
    const { outputs } = await compareModels(at(path), encodeModel(model), [feeds], { optimization: 'disabled' });
    expect(worst(outputs)).toBeLessThan(TOLERANCE * Math.max(1, ...Object.values(outputs).map(({ magnitude }) => magnitude)));
  });

  /** As the stage proves it: 1e-4 of the standard deviation, or the resolution of a Sigmoid. On random inputs, where probabilities are smallest. */
  it.each(CASES.map(testCase => [testCase.path, testCase] as const))('%s: proved on random inputs at the default tolerance', async path => {
    const model = await simplified(path, []);
    const feeds = [makeRandomFeeds(model, { random: random(), sizes: {}, freeSize: 1 })];
    const { outputs } = await compareModels(at(path), encodeModel(model), feeds, { optimization: 'disabled' });
    const sigmoids = findSigmoidOutputs(model);
    const reasons = Object.entries(outputs).map(([name, output]) =>
      findInequality({ kind: 'rounding', tolerance: 1e-4 }, output, sigmoids.has(name) ? 'sigmoid' : 'any'),
    );
    expect(reasons.filter(reason => reason !== undefined)).toEqual([]);
  });

  it.each(CASES.map(testCase => [testCase.path, testCase] as const))('%s: exact passes keep every bit', async (path, { sample }) => {
    const model = await simplified(path, ROUNDING);
    const feeds =
      sample === undefined ? makeRandomFeeds(model, { random: random(), sizes: {}, freeSize: 1 }) : await sampleInput(...sample);
    const { outputs } = await compareModels(at(path), encodeModel(model), [feeds], { optimization: 'disabled' });
    expect(Object.entries(outputs).filter(([, { differentBits, shapes }]) => differentBits > 0 || shapes === 'different')).toEqual([]);
  });

  it.each([
    [`${ULTRAFACE}_without_postprocessing.onnx`, `${ULTRAFACE}_simplified.onnx`, ['ultraface', 'input']],
    ['models/picodet/picodet_s_320_coco.onnx', 'models/picodet/picodet_s_320_coco_sim.onnx', ['picodet', 'image']],
  ] as const)('%s: no more nodes than the published twin, equal outputs', async (path, twinPath, [folder, input]) => {
    const model = await simplified(path, []);
    const twin = await readModel(at(twinPath));
    expect(model.graph.nodes.size).toBeLessThanOrEqual(twin.graph.nodes.size);
    const { outputs } = await compareModels(readFileSync(at(twinPath)), encodeModel(model), [await sampleInput(folder, input)], {
      optimization: 'disabled',
    });
    expect(worst(outputs)).toBeLessThan(TOLERANCE * Math.max(1, ...Object.values(outputs).map(({ magnitude }) => magnitude)));
  });

  it('finds the objects of a drawn scene as torchvision’s export does, whose If and Loop read the data', async () => {
    const path = 'shapes/maskrcnn/maskrcnn-shapes-torchvision.onnx';
    const count = (of: Model): readonly number[] => {
      const [main, ...inner] = [...scopesOf(of)].map(({ graph }) => graph.nodes.size);
      return [main ?? 0, inner.reduce((sum, nodes) => sum + nodes, 0)];
    };
    const original = await readModel(at(path));
    expect(count(original)).toEqual([2243, 238]);
    const model = await simplified(path, []);
    expect(count(model)).toEqual([595, 94]);
    const { dims, data } = (await readNpz(at('shapes/maskrcnn/stages_1000.npz'))).getFloat32('input');
    const [mean, deviation] = [
      [0.485, 0.456, 0.406],
      [0.229, 0.224, 0.225],
    ];
    const plane = data.length / 3;
    const pixels = data.map((value, index) => value * (deviation[Math.floor(index / plane)] ?? 1) + (mean[Math.floor(index / plane)] ?? 0));
    const feeds = { [nameOfInput(model)]: makeTensor('float32', dims.slice(1), pixels) };
    const { outputs } = await compareModels(at(path), encodeModel(model), [feeds], { optimization: 'disabled' });
    expect(Object.values(outputs).map(({ shapes }) => shapes)).toEqual(['equal', 'equal', 'equal', 'equal']);
    expect(worst(outputs)).toBeLessThan(TOLERANCE * Math.max(...Object.values(outputs).map(({ magnitude }) => magnitude)));
    // Some object is found: the boxes are not empty, and the masks were pasted one by one.
    expect(Math.min(...Object.values(outputs).map(({ magnitude }) => magnitude))).toBeGreaterThan(0);
  });

  // Counted once by saving what ONNX Runtime 1.30 makes at its basic level, which folds constants of any size.
  it.each([
    ['conformance/onnx/light/light_bvlc_alexnet.onnx', 22],
    ['conformance/onnx/light/light_densenet121.onnx', 491],
    ['conformance/onnx/light/light_inception_v1.onnx', 138],
    ['conformance/onnx/light/light_inception_v2.onnx', 168],
    ['conformance/onnx/light/light_resnet50.onnx', 123],
    ['conformance/onnx/light/light_shufflenet.onnx', 154],
    ['conformance/onnx/light/light_squeezenet.onnx', 65],
    ['conformance/onnx/light/light_zfnet512.onnx', 22],
    [`${ULTRAFACE}.onnx`, 160],
    [`${ULTRAFACE}_without_postprocessing.onnx`, 145],
    ['models/picodet/picodet_s_320_coco.onnx', 632],
    ['models/fastestdet/FastestDet.onnx', 184],
    ['models/yolox-nano/yolox_nano.onnx', 367],
    ['models/mobilenetv2/mobilenetv2_fp32.onnx', 100],
    ['models/maskrcnn2go/maskrcnn2go_deq_fp32.onnx', 282],
    ['models/cifar-resnet20/cifar_resnet20.onnx', 54],
    ['shapes/maskrcnn/maskrcnn-shapes-torchvision.onnx', 718],
  ])('%s: no more nodes than ONNX Runtime’s own basic optimiser leaves (%i)', async (path, most) => {
    const model = await readModel(at(path));
    await simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 2 ** 31 });
    expect(model.graph.nodes.size).toBeLessThanOrEqual(most);
  });

  it.each(['densenet121', 'inception_v2', 'resnet50', 'shufflenet'])('light_%s keeps its outputs', async name => {
    const path = `conformance/onnx/light/light_${name}.onnx`;
    const model = await simplified(path, []);
    const feeds = makeRandomFeeds(model, { random: random(), sizes: {}, freeSize: 1 });
    const { outputs } = await compareModels(at(path), encodeModel(model), [feeds], { optimization: 'disabled' });
    expect(worst(outputs)).toBeLessThan(TOLERANCE);
  });
});
