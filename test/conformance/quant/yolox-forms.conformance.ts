/** YOLOX-nano without an exponential: what its piecewise linear forms lose in float, and what a refit of statistics on 16 photographs brings back. */
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { evaluateStage, yoloxPipeline } from '../../support/yolox-pipeline.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

/** Box AP on 12 images of COCO. The final Sigmoids of scores become HardSigmoid too. */
const PIPELINE = `${yoloxPipeline(shared ?? '')}  form:
    foreach: [silu-hard-swish, silu-two-hard-sigmoids]
    uses: rewrite
    with: {rules: [{name: "\${item}", matches: any}, {name: sigmoid-hard, matches: any}]}
    inputs: {model: simplify.model}
  refit:
    foreach: [silu-hard-swish, silu-two-hard-sigmoids]
    uses: refit-statistics
    inputs: {model: "form@\${item}.model", reference: simplify.model, captured: capture.captured}
${evaluateStage('evaluate', 'val', {
  float: 'simplify.model',
  'hard-swish': 'form@silu-hard-swish.model',
  'hard-swish-refit': 'refit@silu-hard-swish.model',
  'two-gates': 'form@silu-two-hard-sigmoids.model',
  'two-gates-refit': 'refit@silu-two-hard-sigmoids.model',
})}`;

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
