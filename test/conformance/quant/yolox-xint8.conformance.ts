/** YOLOX-nano in xint8: what is left of it in 8 bits, what each layer costs there, and the nearest type that the target runs, as `tune` names it. */

import type { Json } from '../../../src/base/json.js';
import { parseSensitivityReport } from '../../../src/quant/sensitivity/report-schema.js';
import { TUNE_DOCUMENT } from '../../../src/report/tune-document.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { parseDocument } from '../../support/parse-document.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { evaluateStage, yoloxPipeline } from '../../support/yolox-pipeline.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

/** All that the target's xint8 asks for: forms without exponentials, refitted statistics, channel factors, one scale per tensor, corrected biases. */
const XINT8 = `  form:
    uses: rewrite
    with: {rules: [{name: silu-hard-swish, matches: any}, {name: sigmoid-hard, matches: any}]}
    inputs: {model: simplify.model}
  refit:
    uses: refit-statistics
    inputs: {model: form.model, reference: simplify.model, captured: capture.captured}
  form-factors:
    uses: rewrite
    with: {rules: [{name: channel-factors, form: depthwise, matches: any}]}
    inputs: {model: refit.model}
  form-calibrate:
    uses: calibrate
    inputs: {model: form-factors.model, captured: capture.captured}
  xint8:
    uses: quantize
    with: {preset: xint8}
    inputs: {model: form-factors.model, sketches: form-calibrate.sketches}
  xint8-biases:
    uses: correct-biases
    inputs: {model: xint8.model, float: form-factors.model, captured: capture.captured}
  costs:
    uses: sensitivity
    with: {samples: 4, exact: 3}
    inputs: {model: xint8-biases.model, float: form-factors.model, captured: capture.captured}
`;

/** The pipeline of docs/tutorial-recover.md: what `init --recover` drafts. */
const RECOVERED = `  factors:
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
  biases:
    uses: correct-biases
    inputs: {model: quantize.model, float: factors.model, captured: capture.captured}
  compile:
    uses: compile
    with: {target: generic-int8}
    inputs: {models: {model: biases.model}, recipe: detector.recipe}
  evaluate-float:
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: simplify.model}, recipe: detector.recipe, data: "\${sources.val}"}
  evaluate-int8:
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: biases.model}, recipe: detector.recipe, data: "\${sources.val}", baseline: evaluate-float.metrics}
`;

const PIPELINE =
  yoloxPipeline(shared ?? '').replace(
    'version: 1\n',
    'version: 1\nparams: {preset: {type: string, enum: [xint8, a8w8, a16w8], default: xint8}}\n',
  ) +
  XINT8 +
  RECOVERED +
  evaluateStage('figure', 'val', { xint8: 'xint8-biases.model' });

suite('YOLOX-nano in xint8', () => {
  let world: CliWorld;
  beforeAll(() => {
    world = givenProject({ 'package.json': '{}', 'pipeline.yaml': PIPELINE });
    const { exitCode, stdout, stderr } = world.run('build', 'figure', 'costs');
    expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  }, 300_000);
  afterAll(() => world.remove());

  const read = (path: string): Json => JSON.parse(world.read(`artifacts/${path}`)) as Json;

  it('has a figure, and a cost for every layer', () => {
    const { bbox } = read('figure@xint8/metrics.json') as unknown as { readonly bbox: { readonly AP: number } };
    process.stderr.write(`ROW yolox xint8 ${bbox.AP}\n`);
    // Measured .050 of .510; twelve images.
    expect(bbox.AP).toBeLessThan(0.2);
    const { layers } = parseSensitivityReport(read('costs/report.json'));
    // One share of the errors per layer, together 1.
    expect(layers.length).toBeGreaterThan(100);
    expect(layers.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
    const alone = layers.flatMap(layer => layer.alone ?? []);
    expect(alone).toHaveLength(3);
    for (const { outputs } of alone) expect(outputs.length).toBeGreaterThan(0);
  });

  it('`tune` names a16w8: the type of the target that keeps the accuracy, with every multiplication on the NPU', () => {
    const { exitCode, stdout, stderr } = world.run(
      'tune',
      'evaluate-int8',
      'compile',
      ...[
        '--gate',
        'delta.bbox.AP >= -0.015',
        '--gate',
        'total.npuMacShare >= 0.99',
        '--minimize',
        'total.estimatedMs',
        '-m',
        'preset=xint8,a8w8,a16w8',
        '--json',
      ],
    );
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, '']);
    const { best, trials } = parseDocument(TUNE_DOCUMENT, JSON.parse(stdout));
    process.stderr.write(`ROW tune ${JSON.stringify(trials.map(({ set, figures }) => [set, figures]))}\n`);
    expect(best).toMatchObject({ set: { preset: 'a16w8' }, holds: true, figures: { 'compile.total.npuMacShare': 1 } });
    expect(best?.yaml).toContain('preset: a16w8');
    expect(trials.filter(({ holds }) => holds)).toHaveLength(1);
  }, 300_000);
});
