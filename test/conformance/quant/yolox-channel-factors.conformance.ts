/** YOLOX-nano in a16w8: a scale per channel, or one per tensor with channel factors; and in a8w8 with some activations in 16 bits, by hand and by `widen-types`; each with corrected biases. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { strideOfPoints } from '../../support/rounds.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { evaluateStage, yoloxPipeline } from '../../support/yolox-pipeline.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (path: string): string => join(shared ?? '', path);

const PHOTOGRAPHS = at('images/imagenet-val60');
/** The first ones calibrate; the network is judged on the others. */
const CALIBRATE = 16;

const QUANTIZED = { 'per-channel': 'biases@per-channel.model', factors: 'biases@factors.model' };
const PIPELINE = `${yoloxPipeline(shared ?? '', `  photos: {annotations: photos.json, images: ${PHOTOGRAPHS}}\n  calibration: {annotations: calibration.json, images: ${PHOTOGRAPHS}}\n`)}  factors:
    uses: rewrite
    with: {rules: [{name: channel-factors, form: mul, matches: any}]}
    inputs: {model: simplify.model}
  calibrate:
    foreach: {plain: simplify.model, factors: factors.model}
    uses: calibrate
    with: {samples: ${CALIBRATE}}
    inputs: {model: "\${item}", recipe: detector.recipe, images: "\${sources.photographs}"}
  per-tensor:
    uses: quantize
    with: {preset: a16w8}
    inputs: {model: simplify.model, sketches: calibrate@plain.sketches}
  quantize:
    foreach:
      per-channel: {perChannel: true, model: simplify.model, sketches: calibrate@plain.sketches}
      factors: {perChannel: false, model: factors.model, sketches: calibrate@factors.sketches}
    uses: quantize
    with: {preset: a16w8, weight: {perChannel: "\${item.perChannel}"}}
    inputs: {model: "\${item.model}", sketches: "\${item.sketches}"}
  biases:
    foreach: {per-channel: simplify.model, factors: factors.model}
    uses: correct-biases
    inputs: {model: "quantize@\${key}.model", float: "\${item}", captured: capture.captured}
${evaluateStage('float-photos', 'photos', { float: 'simplify.model' })}${evaluateStage('agreement', 'photos', QUANTIZED)}${evaluateStage(
  'coco',
  'val',
  { float: 'simplify.model', 'per-tensor': 'per-tensor.model', ...QUANTIZED },
)}`;

/** `a8w8` with a scale per channel; the report of the first says which activations the second widens. */
const NARROW = `  narrow:
    uses: quantize
    with: {preset: a8w8-per-channel, range: mse, joins: separate}
    inputs: {model: simplify.model, sketches: calibrate@plain.sketches}
`;
const WIDENED = 35;

const MIXED = '{preset: a8w8-per-channel, range: mse, joins: shared}';

/** `quantize` is told by `by` what is wider. */
const mix = (by: { readonly params?: string; readonly input?: string }): string => `  mixed:
    uses: quantize
    with: {${MIXED.slice(1, -1)}${by.params ?? ''}}
    inputs: {model: simplify.model, sketches: calibrate@plain.sketches${by.input ?? ''}}
  mixed-biases:
    uses: correct-biases
    inputs: {model: mixed.model, float: simplify.model, captured: capture.captured}
${evaluateStage('mixed-agreement', 'photos', { mixed: 'mixed-biases.model' })}${evaluateStage('mixed-coco', 'val', { mixed: 'mixed-biases.model' })}`;

const byHand = (tensors: readonly string[]): string => {
  const overrides = tensors.map(tensor => ({ tensor, matches: 'any', set: { dtype: 'int16', range: 'min-max' } }));
  return mix({ params: `, qdqDomain: com.microsoft, overrides: ${JSON.stringify(overrides)}` });
};

/** A quarter of the bytes of all activations, of which wider ones count twice, is a seventh of the bytes that they take more. */
const BY_TOOL = `  widen:
    uses: widen-types
    with:
      quantize: ${MIXED}
      constraint: {share: {cost: 0.14, tensors: 0.1}}
      judge: detections
      biases: corrected
    inputs:
      model: simplify.model
      sketches: calibrate@plain.sketches
      captured: capture.captured
      recipe: detector.recipe
      data: "\${sources.calibration}"
${mix({ input: ', overrides: widen.overrides' })}`;

interface Activation {
  readonly name: string;
  readonly dtype: string;
  readonly elements: number;
  readonly sharedWith?: string;
  readonly sqnrDb: number | null;
}

interface Detection {
  readonly image_id: number;
  readonly category_id: number;
  readonly bbox: readonly number[];
  readonly score: number;
}

suite('YOLOX-nano', () => {
  let world: CliWorld;

  beforeAll(async () => {
    world = givenProject({ 'package.json': '{}', 'pipeline.yaml': PIPELINE });
    // Nothing is to be found yet: a data set needs a box to have figures.
    await writePhotos([{ image_id: CALIBRATE + 1, category_id: 1, bbox: [0, 0, 9, 9], score: 1 }]);
    await writeData('calibration.json', { start: 0, end: CALIBRATE }, []);
    build('float-photos');
    const found = JSON.parse(world.read('artifacts/float-photos@float/detections.json')) as readonly Detection[];
    await writePhotos(found.filter(({ score }) => score >= 0.3));
    build('agreement', 'coco');
  }, 600_000);
  afterAll(() => world.remove());

  function build(...stages: readonly string[]): void {
    const { exitCode, stdout, stderr } = world.with({ timeoutMs: 1_700_000 }).run('build', ...stages);
    expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }

  /** A data set of the photographs that judge, with these boxes. */
  const writePhotos = (boxes: readonly Detection[]): Promise<void> => writeData('photos.json', { start: CALIBRATE, end: 60 }, boxes);

  async function writeData(
    file: string,
    { start, end }: { readonly start: number; readonly end: number },
    boxes: readonly Detection[],
  ): Promise<void> {
    const files = readdirSync(PHOTOGRAPHS)
      .filter(name => name.endsWith('.JPEG'))
      .sort();
    const images = await Promise.all(
      files.slice(start, end).map(async (file_name, index) => {
        const { width, height } = await decodeImage(readFileSync(join(PHOTOGRAPHS, file_name)), file_name);
        return { id: start + index + 1, file_name, width, height };
      }),
    );
    const annotations = boxes.map(({ image_id, category_id, bbox }, index) => {
      const [, , width = 0, height = 0] = bbox;
      return { id: index + 1, image_id, category_id, bbox, area: width * height, iscrowd: 0 };
    });
    const { categories } = JSON.parse(readFileSync(at('images/coco-mini12/instances.json'), 'utf8')) as { readonly categories: unknown };
    world.write(file, JSON.stringify({ images, annotations, categories }));
  }

  const apOf = (name: string): number =>
    (JSON.parse(world.read(`artifacts/${name}/metrics.json`)) as { readonly bbox: { readonly AP: number } }).bbox.AP;

  /** AP below that of the float network. */
  const lossOf = (name: string): number => apOf('coco@float') - apOf(name);

  const tell = (name: string, agreement: number, loss: number): void => {
    process.stderr.write(`${name}: agreement ${agreement.toFixed(4)}, loss of AP ${loss.toFixed(4)}\n`);
  };

  const activationsOf = (stage: string): readonly Activation[] =>
    (JSON.parse(world.read(`artifacts/${stage}/report.json`)) as { readonly activations: readonly Activation[] }).activations;

  function expectRecovered(): void {
    const activations = activationsOf('mixed');
    const wide = activations.filter(({ dtype }) => dtype === 'int16');
    const bytesOf = (list: readonly Activation[]): number =>
      list.reduce((sum, { dtype, elements }) => sum + elements * (dtype === 'int16' ? 2 : 1), 0);
    expect(wide.length).toBeGreaterThan(0);
    expect(wide.length).toBeLessThanOrEqual(0.1 * activations.length);
    expect(bytesOf(wide)).toBeLessThanOrEqual(0.25 * bytesOf(activations));
    const { inFloat } = JSON.parse(world.read('artifacts/mixed/report.json')) as { readonly inFloat: readonly unknown[] };
    expect(inFloat).toEqual([]);
    const [agreement, loss] = [apOf('mixed-agreement@mixed'), lossOf('mixed-coco@mixed')];
    tell(
      `a8w8, ${wide.length} of ${activations.length} tensors and ${bytesOf(wide)} of ${bytesOf(activations)} bytes wider`,
      agreement,
      loss,
    );
    expect(agreement).toBeGreaterThanOrEqual(0.8);
    expect(loss).toBeLessThanOrEqual(0.03);
  }

  it('a8w8 with the worst tenth of the activations in 16 bits agrees to 0.8, and loses at most 0.03 of AP', () => {
    world.write('pipeline.yaml', PIPELINE + NARROW);
    build('narrow');
    const worst = activationsOf('narrow')
      .flatMap(({ name, sharedWith, sqnrDb }) => (sharedWith !== undefined || sqnrDb === null ? [] : [{ name, sqnrDb }]))
      .sort((a, b) => a.sqnrDb - b.sqnrDb)
      .slice(0, WIDENED);
    world.write('pipeline.yaml', PIPELINE + NARROW + byHand(worst.map(({ name }) => name)));
    build('mixed-agreement', 'mixed-coco');
    expectRecovered();
  }, 600_000);

  // Eight trials with corrected biases take minutes, so CI leaves it out.
  (strideOfPoints() === 1 ? it : it.skip)(
    '`widen-types` finds such a tenth by itself, on the images that calibrate',
    () => {
      world.write('pipeline.yaml', PIPELINE + BY_TOOL);
      build('mixed-agreement', 'mixed-coco');
      expectRecovered();
    },
    1_800_000,
  );

  it('a16w8 with one scale per tensor finds nothing', () => {
    expect(apOf('coco@per-tensor')).toBeLessThan(0.01);
  });

  it.each(Object.keys(QUANTIZED))('a16w8, %s: agrees with the float network to 0.92, and loses at most 0.015 of AP', name => {
    const [agreement, loss] = [apOf(`agreement@${name}`), lossOf(`coco@${name}`)];
    tell(`a16w8, ${name}`, agreement, loss);
    expect(agreement).toBeGreaterThanOrEqual(0.92);
    expect(loss).toBeLessThanOrEqual(0.015);
  });
});
