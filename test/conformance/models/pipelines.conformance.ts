/** The pipelines of the public models, built end to end, against figures recorded with the models' own code. */
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { evaluateClasses } from '../../../stages/evaluate-classes/stage.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { MOBILENETV2 } from '../../support/public-models.js';
import { runStage } from '../../support/run-stage.js';
import { PROJECT } from '../../support/shapes-project.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (...parts: string[]): string => join(shared ?? '', ...parts);

interface Figures {
  readonly [name: string]: number | Figures;
}

interface Found {
  readonly image_id: number;
  readonly category_id?: number;
  readonly score: number;
  readonly bbox: readonly number[];
}

const NAMES = ['ultraface', 'picodet', 'yolox-nano', 'fastestdet', 'maskrcnn2go', 'mobilenetv2', 'cifar-resnet20'];
const COCO = ['-p', `annotations=${at('images/coco-mini12/instances.json')}`, '-p', `images=${at('images/coco-mini12/images')}`];

let world: CliWorld;
beforeAll(() => {
  const pipelines = NAMES.map(name => [`pipelines/${name}.yaml`, readFileSync(join(PROJECT, 'pipelines', `${name}.yaml`), 'utf8')]);
  world = givenProject({ 'package.json': '{}', ...Object.fromEntries(pipelines) });
});
afterAll(() => world.remove());

/** Builds a pipeline; its gates must be met. */
function build(name: string, ...args: readonly string[]): void {
  const { exitCode, stdout, stderr } = world.run('build', '-f', `pipelines/${name}.yaml`, ...args);
  expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, '']);
}

const metricsOf = (name: string, stage: string): Figures => JSON.parse(world.read(`artifacts/${name}/${stage}/metrics.json`)) as Figures;
const reportOf = (name: string, stage: string): unknown => JSON.parse(world.read(`artifacts/${name}/${stage}/report.json`));
const detectionsOf = (name: string, stage: string): readonly Found[] =>
  JSON.parse(world.read(`artifacts/${name}/${stage}/detections.json`)) as readonly Found[];

/** Figures of `found` that differ from `recorded` by more than 0.005. */
function differing(found: Figures | number | undefined, recorded: Readonly<Record<string, number>>): string[] {
  const figures = typeof found === 'object' ? found : {};
  return Object.entries(recorded)
    .filter(([name, value]) => !(Math.abs(Number(figures[name]) - value) <= 0.005))
    .map(([name, value]) => `${name}: ${JSON.stringify(figures[name])}, recorded ${value}`);
}

const model = (path: string): readonly string[] => ['-p', `model=${at('models', path)}`];
const inOrder = (found: readonly Found[]): readonly Found[] => [...found].sort((a, b) => a.image_id - b.image_id || b.score - a.score);

suite('detectors on 12 images of COCO', () => {
  it('YOLOX-nano: float as recorded, and int8 as the gate allows', () => {
    build('yolox-nano', ...model('yolox-nano/yolox_nano.onnx'), ...COCO, '-p', 'leastAP=0.505');
    expect(differing(metricsOf('yolox-nano', 'evaluate-float').bbox, { AP: 0.51, AP50: 0.679, AP75: 0.556 })).toEqual([]);
  }, 300_000);

  it('PicoDet: figures, and the detections above 0.3, as recorded', async () => {
    build('picodet', ...model('picodet/picodet_s_320_coco.onnx'), ...COCO, '-p', 'leastAP=0.499');
    const recorded = JSON.parse(await readFile(at('models/picodet/detections.json'), 'utf8')) as {
      readonly figures: Readonly<Record<string, number>>;
      readonly detections: readonly Found[];
    };
    const { AP = 0, AP50 = 0, AP75 = 0, AR100 = 0 } = recorded.figures;
    expect(differing(metricsOf('picodet', 'evaluate-float').bbox, { AP, AP50, AP75, AR100 })).toEqual([]);
    // Tolerance: 0.5 pixels and 0.005 of score. Single bytes of a resized image differ by 1 where OpenCV resizes with vector instructions.
    const found = detectionsOf('picodet', 'evaluate-float');
    const alone = (some: readonly Found[], others: readonly Found[]) =>
      some.filter(one => !others.some(other => distance(one, other) <= 5 && boxDistance(one, other) < 0.5));
    expect(alone(recorded.detections, found)).toEqual([]);
    expect(
      alone(
        found.filter(({ score }) => score > 0.305),
        recorded.detections,
      ),
    ).toEqual([]);
  }, 300_000);

  it('FastestDet: by Pillow’s linear and by OpenCV’s area, as recorded', () => {
    const own = [...model('fastestdet/FastestDet.onnx'), ...COCO];
    build('fastestdet', ...own, '-p', 'leastAP=0.284');
    expect(differing(metricsOf('fastestdet', 'evaluate-float').bbox, { AP: 0.289, AP50: 0.423, AP75: 0.387 })).toEqual([]);
    build('fastestdet', 'evaluate-float', ...own, '-p', 'filter=linear', '-p', 'leastAP=0.275');
    expect(differing(metricsOf('fastestdet', 'evaluate-float').bbox, { AP: 0.28, AP50: 0.43, AP75: 0.36 })).toEqual([]);
  }, 300_000);

  it('UltraFace: the ten recorded faces, box for box', async () => {
    const recorded = JSON.parse(await readFile(at('models/ultraface/detections.json'), 'utf8')) as {
      readonly detections: readonly Found[];
    };
    const { images } = JSON.parse(await readFile(at('images/coco-mini12/instances.json'), 'utf8')) as { readonly images: unknown };
    // The recorded detections serve as ground truth.
    const annotations = recorded.detections.map(({ image_id, bbox }, i) => ({
      id: i + 1,
      image_id,
      category_id: 1,
      bbox,
      area: (bbox[2] ?? 0) * (bbox[3] ?? 0),
      iscrowd: 0,
    }));
    const faces = join(world.folder, 'faces.json');
    await writeFile(faces, JSON.stringify({ images, annotations, categories: [{ id: 1, name: 'face' }] }));
    const data = ['-p', `annotations=${faces}`, '-p', `images=${at('images/coco-mini12/images')}`];
    build(
      'ultraface',
      ...model('ultraface/version-RFB-320_without_postprocessing.onnx'),
      ...data,
      '-p',
      'leastAP=0.99',
      '-p',
      'mostLoss=0.3',
    );
    const found = inOrder(detectionsOf('ultraface', 'evaluate-float'));
    expect(found).toHaveLength(10);
    // Tolerance: 0.01 pixels and 0.00001 of score, for different arithmetic in decoding.
    for (const [i, one] of inOrder(recorded.detections).entries()) expect(distance(one, found[i])).toBeLessThan(0.01);
  }, 300_000);

  it('MaskRCNN2Go: boxes and masks, float and in its authors’ int8, as recorded; our int8 as the gates allow, at its own sizes and in a square', () => {
    const models = ['float', 'int8'].map((kind, i) => [
      '-p',
      `${kind}=${at('models/maskrcnn2go', i === 0 ? 'maskrcnn2go_deq_fp32.onnx' : 'maskrcnn2go_qdq_orig_scales.onnx')}`,
    ]);
    const own = [...models.flat(), ...COCO, '-p', 'leastBoxAP=0.421', '-p', 'leastMaskAP=0.389'];
    build('maskrcnn2go', ...own);
    // The recorded figures of the QDQ file come from ONNX Runtime's integer kernels.
    build('maskrcnn2go', 'evaluate-theirs', ...own, '-p', 'optimization=all');
    for (const [stage, box, mask] of [
      ['evaluate-float', 0.426, 0.394],
      ['evaluate-theirs', 0.436, 0.395],
    ] as const) {
      const { bbox, segm } = metricsOf('maskrcnn2go', stage);
      expect([differing(bbox, { AP: box }), differing(segm, { AP: mask })]).toEqual([[], []]);
    }
    // The proof of `simplify` ran on a photograph with objects, so no output is empty.
    const { proof } = reportOf('maskrcnn2go', 'simplify') as { readonly proof: { readonly outputs: Readonly<Record<string, Figures>> } };
    for (const output of Object.values(proof.outputs)) expect([Number(output.elements) > 0, output.differentBits]).toEqual([true, 0]);
    // An NPU runs each of the three parts as a whole, and no node outside of them has MACs.
    expect(metricsOf('maskrcnn2go', 'compile').total).toMatchObject({ npuMacShare: 1, cpuNodes: 0, npuParts: 3 });
    const { inNoPart } = reportOf('maskrcnn2go', 'parts') as { readonly inNoPart: readonly string[] };
    expect(inNoPart.filter(node => /^(Conv|ConvTranspose|Gemm|MatMul) /.test(node))).toEqual([]);
    expect(inNoPart.filter(node => /^(RoiAlign|NonMaxSuppression) /.test(node))).toHaveLength(4);
  }, 300_000);
});

/** The largest difference of two detections: pixels of the box, thousandths of the score; infinite if image or class differ. */
function distance(a: Found, b: Found | undefined): number {
  if (b === undefined || a.image_id !== b.image_id || (a.category_id ?? 1) !== (b.category_id ?? 1)) return Number.POSITIVE_INFINITY;
  return Math.max(Math.abs(a.score - b.score) * 1000, boxDistance(a, b));
}

function boxDistance(a: Found, b: Found): number {
  return Math.max(...a.bbox.map((side, i) => Math.abs(side - (b.bbox[i] ?? Number.NaN))));
}

suite('classifiers', () => {
  const photographs = at('images/imagenet-val60');

  it('MobileNetV2: 45 and 57 of 60 photographs, and int8 at most one fewer', () => {
    const data = ['-p', `images=${photographs}`, '-p', `labels=${join(photographs, 'labels.txt')}`];
    build('mobilenetv2', ...model('mobilenetv2/mobilenetv2_fp32.onnx'), ...data, '-p', 'leastTop1=0.75');
    expect(metricsOf('mobilenetv2', 'evaluate-float')).toEqual({ top1: 45 / 60, top5: 57 / 60, images: 60 });
    const { configs } = JSON.parse(readFileSync(at('models/mobilenetv2/int8_baseline.json'), 'utf8')) as {
      readonly configs: Readonly<Record<string, { readonly top1: number }>>;
    };
    const theirs = configs['u8s8-minmax-perchannel']?.top1 ?? Number.NaN;
    expect(Number(metricsOf('mobilenetv2', 'evaluate-int8').top1) * 60).toBeGreaterThan(theirs - 1.5);
  }, 300_000);

  it('the int8 MobileNetV2 of its maker: 45 of 60, ties going to the lower class', async () => {
    const { outputs } = await runStage(evaluateClasses, {
      params: { preprocess: MOBILENETV2 as never },
      inputs: { model: at('models/mobilenetv2/qdq_reference/model.onnx'), images: photographs, labels: join(photographs, 'labels.txt') },
      folder: world.folder,
    });
    expect(JSON.parse(await readFile(outputs.metrics ?? '', 'utf8'))).toEqual({ top1: 45 / 60, top5: 57 / 60, images: 60 });
  }, 300_000);

  it('ResNet-20: 804 of 1,000 images of CIFAR-10', () => {
    build(
      'cifar-resnet20',
      ...model('cifar-resnet20/cifar_resnet20.onnx'),
      '-p',
      `images=${at('images/cifar10')}`,
      '-p',
      'leastTop1=0.803',
    );
    expect(metricsOf('cifar-resnet20', 'evaluate-float').top1).toBe(0.804);
  }, 300_000);
});
