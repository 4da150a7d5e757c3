/** YOLOX-nano without an exponential: what its piecewise linear forms lose in float, and what a refit of statistics on 16 photographs brings back. */
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (path: string): string => join(shared ?? '', path);

/** Box AP on 12 images of COCO. The final Sigmoids of scores become HardSigmoid too. */
const PIPELINE = `version: 1
sources:
  model: ${at('models/yolox-nano/yolox_nano.onnx')}
  photographs: ${at('images/imagenet-val60')}
  val: {annotations: ${at('images/coco-mini12/instances.json')}, images: ${at('images/coco-mini12/images')}}
stages:
  import: {uses: import, inputs: {model: "\${sources.model}"}}
  simplify: {uses: simplify, inputs: {model: import.model}}
  detector:
    uses: describe
    with:
      preprocess: {colors: bgr, range: 0..255, resize: pad, fill: 114, antialias: true, rounding: bytes}
      decoder: {grid: {output: output, strides: [8, 16, 32], boxes: {form: exp}, objectness: {channel: 4}, classes: {channel: 5}}}
      categories: coco
      scoreThreshold: 0.01
      nms: 0.65
    inputs: {model: simplify.model}
  capture:
    uses: capture
    with: {samples: 16}
    inputs: {detector: {model: simplify.model}, recipe: detector.recipe, images: "\${sources.photographs}"}
  form:
    foreach: [silu-hard-swish, silu-two-hard-sigmoids]
    uses: rewrite
    with: {rules: [{name: "\${item}", matches: any}, {name: sigmoid-hard, matches: any}]}
    inputs: {model: simplify.model}
  refit:
    foreach: [silu-hard-swish, silu-two-hard-sigmoids]
    uses: refit-statistics
    inputs: {model: "form@\${item}.model", reference: simplify.model, captured: capture.captured}
  evaluate:
    foreach:
      float: simplify.model
      hard-swish: form@silu-hard-swish.model
      hard-swish-refit: refit@silu-hard-swish.model
      two-gates: form@silu-two-hard-sigmoids.model
      two-gates-refit: refit@silu-two-hard-sigmoids.model
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: "\${item}"}, recipe: detector.recipe, data: "\${sources.val}"}
`;

suite('YOLOX-nano with SiLU in linear pieces', () => {
  let world: CliWorld;
  beforeAll(() => {
    world = givenProject({ 'package.json': '{}', 'pipeline.yaml': PIPELINE });
    const { exitCode, stdout, stderr } = world.run('build');
    expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }, 300_000);
  afterAll(() => world.remove());

  const apOf = (name: string): number =>
    (JSON.parse(world.read(`artifacts/evaluate@${name}/metrics.json`)) as { readonly bbox: { readonly AP: number } }).bbox.AP;

  it('the forms alone lose most of the accuracy', () => {
    expect(apOf('float')).toBeGreaterThan(0.505);
    expect(apOf('hard-swish')).toBeLessThan(0.1);
    expect(apOf('two-gates')).toBeLessThan(0.25);
  });

  it('with refitted statistics, two HardSigmoids reach 0.45, and HardSwish most of it', () => {
    expect(apOf('two-gates-refit')).toBeGreaterThanOrEqual(0.45);
    expect(apOf('hard-swish-refit')).toBeGreaterThanOrEqual(0.4);
  });
});
