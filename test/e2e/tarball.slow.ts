/** The packed package, installed into an empty folder from the registry alone: there the commands of README.md and of docs/tour.md do what the pages show; docs/tutorial-checkpoint.md continues it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findMismatch, playSteps, stepsOf } from '../support/console-blocks.js';
import { DIST } from '../support/world.js';

const PROJECT = dirname(DIST);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-tarball-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Without what npm tells its scripts, settings of the project included: an installation in another folder is not part of it. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|command|execpath|config_local_prefix|config_onnxruntime)/.test(name),
  ),
);

it('installs, and the tour builds and asks what it shows', () => {
  // dist/ is built already; the script `prepack` would build it under the running tests.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: PROJECT, env: environment, stdio: 'pipe' });
  const [tarball = ''] = readdirSync(folder);
  const app = join(folder, 'app');
  mkdirSync(app);
  const [install = '', build = ''] = (
    /^ONNXRUNTIME_NODE_INSTALL=skip .*\n.*$/m.exec(readFileSync(join(PROJECT, 'README.md'), 'utf8'))?.[0] ?? ''
  ).split('\n');
  expect(build).toBe('npx --no-install tanren init --template maskrcnn && npx --no-install tanren build');
  execFileSync('sh', ['-c', install.replace(/\S+\.tgz/, join(folder, tarball))], { cwd: app, env: environment, stdio: 'pipe' });

  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tanren'), '#!/bin/sh\nexec npx --no-install tanren "$@"\n', { mode: 0o755 });
  const steps = ['tour', 'tutorial-checkpoint'].flatMap(name => stepsOf(readFileSync(join(PROJECT, `docs/${name}.md`), 'utf8')));
  const outputs = playSteps(steps, app, { ...environment, NO_COLOR: '1', PATH: [bin, environment.PATH].join(delimiter) });
  const wrong = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])] as const);

  expect(steps.map(({ command }) => command).slice(0, 2)).toEqual(['tanren init --template maskrcnn', 'tanren build']);
  expect(wrong.filter(([, mismatch]) => mismatch !== undefined)).toEqual([]);
  expect(outputs.flat().filter(line => line.includes('error[') || line.startsWith('✗ gate'))).toEqual([]);
  expect(readFileSync(join(app, 'pipeline.yaml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=node_modules\/tanren\/docs\/pipeline\.schema\.json\n/,
  );
  expect(readFileSync(join(app, 'artifacts/report/page.html'), 'utf8').length).toBeGreaterThan(100_000);
}, 240_000);
