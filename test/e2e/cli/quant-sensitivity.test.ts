/** `tanren quant sensitivity` prints the costs that a built stage measured, and says which stage is missing. */
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { writeCoarseNetwork } from '../../support/coarse-network.js';

const PIPELINE = `
version: 1
sources: {float: float.onnx, int8: int8.onnx, tensors: tensors}
stages:
  simplify: {uses: simplify, with: {samples: 0}, inputs: {model: "\${sources.int8}"}}
  other: {uses: simplify, with: {samples: 0}, inputs: {model: "\${sources.float}"}}
  capture: {uses: capture, with: {of: model}, inputs: {model: "\${sources.float}", tensors: "\${sources.tensors}"}}
  sensitivity:
    uses: sensitivity
    with: {exact: 2}
    inputs: {model: simplify.model, float: "\${sources.float}", captured: capture.captured}
`;

let world: CliWorld;
beforeAll(async () => {
  world = givenProject({ 'pipeline.yaml': PIPELINE });
  await writeCoarseNetwork(world.folder);
});
afterAll(() => world.remove());

it('a stage that was never built is told with the command that builds it', () => {
  const { stderr, exitCode } = world.run('quant', 'sensitivity', 'sensitivity');
  expect(stderr).toContain('error[not-built]');
  expect(stderr).toContain('tanren build sensitivity');
  expect(exitCode).toBe(2);
});

it('the table has a row per layer, and the same figures as the report, also by the stage that is measured', () => {
  expect(world.run('build', 'sensitivity')).toMatchObject({ exitCode: 0 });
  const { stdout, exitCode } = world.run('quant', 'sensitivity', 'simplify');
  expect(exitCode).toBe(0);
  expect(stdout).toBe(world.run('quant', 'sensitivity', 'sensitivity').stdout);
  const { stage, report } = JSON.parse(world.run('quant', 'sensitivity', 'sensitivity', '--json').stdout);
  expect(stage).toBe('sensitivity');
  const [title, , head, ...rows] = stdout.trimEnd().split('\n');
  expect(title).toBe(`sensitivity: 3 samples, SQNR of the outputs: y ${report.outputs[0].sqnrDb.toFixed(2)} dB`);
  expect(head).toMatch(/^layer +nodes +cost +share +own SQNR +outputs without it$/);
  expect(rows.map(row => row.split(' ')[0])).toEqual(report.layers.map(({ values }: { values: string[] }) => values[0]));
  expect(rows[0]).toContain(`${(100 * report.layers[0].alone.cost).toFixed(2)} %`);
});

it('a stage that none measures is told with what to add', () => {
  const { stderr, exitCode } = world.run('quant', 'sensitivity', 'other');
  expect(stderr).toContain('error[not-measured]: no `sensitivity` stage measures the model of other');
  expect(stderr).toContain('{uses: sensitivity, inputs: {model: other.model, float: FLOAT.model, captured: CAPTURE.captured}}');
  expect(exitCode).toBe(2);
});

it('a stage without a model is not told to measure it', () => {
  const { stderr, exitCode } = world.run('quant', 'sensitivity', 'capture');
  expect(stderr).toContain('error[not-measured]: capture has no model');
  expect(stderr).not.toContain('capture.model');
  expect(exitCode).toBe(2);
});
