/** Workers of built-in plugins run a bundle exactly where the table of code digests is in use, and the results are the same bytes as those of the modules. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { givenProject } from '../../support/cli-world.js';
import { DIST } from '../../support/shapes-project.js';

const ROOT = dirname(DIST);
const PIPELINE = `version: 1
sources: {checkpoint: examples/shapes/models/maskrcnn-shapes.safetensors, config: examples/shapes/models/maskrcnn-shapes.json}
stages:
  export:
    uses: export
    with: {architecture: maskrcnn, input: [1, 3, 96, 128]}
    inputs: {checkpoint: "\${sources.checkpoint}", config: "\${sources.config}"}
`;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-bundle-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A copy of the installation, without tests. */
function givenInstallation(): string {
  const copy = join(folder, 'tanren/dist');
  for (const part of ['bin', 'src', 'stages', 'workers', '.tsbuildinfo', 'code-digests.json'])
    cpSync(join(DIST, part), join(copy, part), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'tanren/node_modules'));
  cpSync(join(ROOT, 'package.json'), join(folder, 'tanren/package.json'));
  return copy;
}

/** Builds in a new project with an empty cache. */
function build(
  installation: string,
  project: string,
): { readonly exitCode: number | null; readonly output: string; readonly model: Buffer | undefined } {
  const cwd = join(folder, project);
  mkdirSync(cwd);
  symlinkSync(join(ROOT, 'examples'), join(cwd, 'examples'));
  writeFileSync(join(cwd, 'pipeline.yaml'), PIPELINE);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(installation, 'bin/tanren.js'), 'build'], { cwd, encoding: 'utf8' });
  return {
    exitCode: status,
    output: stdout + stderr,
    model: status === 0 ? readFileSync(join(cwd, 'artifacts/export/model.onnx')) : undefined,
  };
}

it('run the bundle, or the modules where the compiler ran after the table was written', () => {
  const installation = givenInstallation();
  const bundled = build(installation, 'bundled');
  expect(bundled.exitCode).toBe(0);

  appendFileSync(join(installation, 'workers/export.cjs'), '\nprocess.exit(3);\n');
  expect(build(installation, 'broken')).toMatchObject({ exitCode: 1, output: expect.stringContaining('worker-died') });

  const later = new Date(Date.now() + 10_000);
  utimesSync(join(installation, '.tsbuildinfo'), later, later);
  const fromModules = build(installation, 'modules');
  expect([fromModules.exitCode, fromModules.model]).toEqual([0, bundled.model]);
});

it('print nothing of their own, on any version of Node', () => {
  const world = givenProject({ 'pipeline.yaml': PIPELINE });
  symlinkSync(join(ROOT, 'examples'), join(world.folder, 'examples'));
  expect(world.run('build')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(world.run('log', 'export').stdout).not.toContain('flag');
  world.remove();
});
