/** The stages of the default pipeline, ONNX Runtime included, keep to what they declare. */
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { describeWith, noSandbox, noStrace } from '../../support/guards.js';
import { DIST } from '../../support/world.js';

let project: CliWorld;
beforeEach(() => {
  const root = dirname(DIST);
  project = givenProject({ 'pipeline.yaml': readFileSync(join(root, 'pipeline.yaml'), 'utf8') });
  cpSync(join(root, 'examples'), join(project.folder, 'examples'), { recursive: true });
});
afterEach(() => project.remove());

const TARGETS = ['simplify', 'verify-split', 'quantize@mask_head'];

describeWith(noStrace)('the default pipeline', () => {
  it('reads and writes only declared files: no telemetry in the home folder, no library caches', () => {
    const { exitCode, stdout } = project.run('build', ...TARGETS, '--strict', '--keep-going');
    expect(stdout).not.toContain('undeclared');
    expect(exitCode).toBe(0);
  });
});

describeWith(noSandbox)('the default pipeline in the sandbox', () => {
  it('gives the same bytes as outside', () => {
    expect(project.run('build', ...TARGETS).exitCode).toBe(0);
    const { exitCode, stdout } = project.run('build', ...TARGETS, '--sandbox', '--check');
    expect(stdout.match(/: same bytes/g)).toHaveLength(5);
    expect(exitCode).toBe(0);
  });
});
