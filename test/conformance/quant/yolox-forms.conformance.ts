/**
 * YOLOX-nano without an exponential: what its piecewise linear forms lose in float, what a refit of statistics on 16 photographs brings back,
 * what is left in xint8, stated with the cost of each layer, and the nearest type that the target runs, as `tune` names it.
 */
import type { Json } from '../../../src/base/json.js';
import { parseSensitivityReport } from '../../../src/quant/sensitivity/report-schema.js';
import { TUNE_DOCUMENT } from '../../../src/report/tune-document.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { parseDocument } from '../../support/parse-document.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { evaluateStage, yoloxPipeline } from '../../support/yolox-pipeline.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

/** Box AP on 12 images of COCO. The final Sigmoids of scores become HardSigmoid too. */
const FORMS = `  form:
    foreach: [silu-hard-swish, silu-two-hard-sigmoids]
    uses: rewrite
    with: {rules: [{name: "\${item}", matches: any}, {name: sigmoid-hard, matches: any}]}
    inputs: {model: simplify.model}
  refit:
    foreach: [silu-hard-swish, silu-two-hard-sigmoids]
    uses: refit-statistics
    inputs: {model: "form@\${item}.model", reference: simplify.model, captured: capture.captured}
  calibrate-refit:
    uses: calibrate
    inputs: {model: refit@silu-two-hard-sigmoids.model, captured: capture.captured}
  xint8:
    uses: quantize
    with: {preset: xint8}
    inputs: {model: refit@silu-two-hard-sigmoids.model, sketches: calibrate-refit.sketches}
  costs:
    uses: sensitivity
    with: {samples: 2, exact: 3}
    inputs: {model: xint8.model, float: refit@silu-two-hard-sigmoids.model, captured: capture.captured}
${evaluateStage('evaluate', 'val', {
  float: 'simplify.model',
  'hard-swish': 'form@silu-hard-swish.model',
  'hard-swish-refit': 'refit@silu-hard-swish.model',
  'two-gates': 'form@silu-two-hard-sigmoids.model',
  'two-gates-refit': 'refit@silu-two-hard-sigmoids.model',
  xint8: 'xint8.model',
})}`;

/** With one weight scale per tensor, as the target requires. */
const PRESETS = `  factors:
    uses: rewrite
    with: {rules: [{name: channel-factors, form: mul, matches: any}]}
    inputs: {model: simplify.model}
  calibrate:
    uses: calibrate
    inputs: {model: factors.model, captured: capture.captured}
  quantize:
    uses: quantize
    with: {preset: "\${preset}", joins: separate}
    inputs: {model: factors.model, sketches: calibrate.sketches}
  compile:
    uses: compile
    with: {target: ryzen-ai, dtype: "\${preset}"}
    inputs: {models: {model: quantize.model}, recipe: detector.recipe}
  evaluate-preset:
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: quantize.model}, recipe: detector.recipe, data: "\${sources.val}", baseline: evaluate@float.metrics}
`;

const PARAMS = 'params: {preset: {type: string, enum: [xint8, a8w8, a16w8], default: xint8}}\n';
const PIPELINE = yoloxPipeline(shared ?? '').replace('version: 1\n', `version: 1\n${PARAMS}`) + FORMS + PRESETS;

suite('YOLOX-nano with SiLU in linear pieces', () => {
  let world: CliWorld;
  beforeAll(() => {
    world = givenProject({ 'package.json': '{}', 'pipeline.yaml': PIPELINE });
    const { exitCode, stdout, stderr } = world.with({ timeoutMs: 1_700_000 }).run('build', 'evaluate', 'costs');
    expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }, 1_800_000);
  afterAll(() => world.remove());

  const read = (path: string): Json => JSON.parse(world.read(`artifacts/${path}`)) as Json;
  const apOf = (name: string): number =>
    (read(`evaluate@${name}/metrics.json`) as unknown as { readonly bbox: { readonly AP: number } }).bbox.AP;

  it('the forms alone lose most of the accuracy', () => {
    expect(apOf('float')).toBeGreaterThan(0.505);
    expect(apOf('hard-swish')).toBeLessThan(0.1);
    expect(apOf('two-gates')).toBeLessThan(0.25);
  });

  it('with refitted statistics, two HardSigmoids reach 0.45, and HardSwish most of it', () => {
    expect(apOf('two-gates-refit')).toBeGreaterThanOrEqual(0.45);
    expect(apOf('hard-swish-refit')).toBeGreaterThanOrEqual(0.4);
  });

  // How much xint8 finds is stated, not judged: less than the float form, whose AP the tests above bound.
  it('in xint8 its AP is stated, and every layer has its cost', () => {
    process.stderr.write(`xint8: box AP ${apOf('xint8')}\n`);
    expect(apOf('xint8')).toBeGreaterThanOrEqual(0);
    expect(apOf('xint8')).toBeLessThanOrEqual(1);
    const { layers } = parseSensitivityReport(read('costs/report.json'));
    expect(layers.length).toBeGreaterThan(100);
    expect(layers.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
    expect(layers.flatMap(({ alone }) => alone ?? [])).toHaveLength(3);
  });

  it('`tune` names a16w8, which the target runs with all multiplications', () => {
    const gates = ['--gate', 'delta.bbox.AP >= -0.015', '--gate', 'total.npuMacShare >= 0.99', '--minimize', 'total.estimatedMs'];
    const { exitCode, stdout, stderr } = world
      .with({ timeoutMs: 1_700_000 })
      .run('tune', 'evaluate-preset', 'compile', ...gates, '-m', 'preset=xint8,a8w8,a16w8', '--json');
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, '']);
    const { best, trials } = parseDocument(TUNE_DOCUMENT, JSON.parse(stdout));
    for (const { set, figures } of trials) process.stderr.write(`${JSON.stringify(set)}: ${JSON.stringify(figures)}\n`);
    expect(best).toMatchObject({ set: { 'parameter preset': 'a16w8' }, holds: true, figures: { 'compile.total.npuMacShare': 1 } });
    expect(best?.yaml).toContain('preset: a16w8');
    expect(trials).toContainEqual(expect.objectContaining({ set: expect.objectContaining({ 'parameter preset': 'a16w8' }), holds: true }));
  }, 1_800_000);
});
