/** The packed package, installed into an empty folder from the registry alone: its example builds there, with the commands of README.md. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DIST } from '../support/world.js';

const PROJECT = dirname(DIST);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-tarball-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Without what npm tells its scripts: an installation in another folder is not part of the project. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|command|execpath|config_local_prefix)/.test(name)),
);

it('installs, writes an example and builds it', () => {
  // dist/ is built already; the script `prepack` would build it under the running tests.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: PROJECT, env: environment, stdio: 'pipe' });
  const [tarball = ''] = readdirSync(folder);
  const app = join(folder, 'app');
  mkdirSync(app);
  const commands = [...readFileSync(join(PROJECT, 'README.md'), 'utf8').matchAll(/^ONNXRUNTIME_NODE_INSTALL=skip .*\n.*$/gm)][0]?.[0] ?? '';
  expect(commands.split('\n')).toHaveLength(2);
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', commands.replace(/\S+\.tgz/, join(folder, tarball))], {
    cwd: app,
    env: { ...environment, NO_COLOR: '1' },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });

  expect([status, stderr.includes('error[')]).toEqual([0, false]);
  expect(stdout).toMatch(/\nbuilt: 26 executed \(/);
  expect(stdout).not.toContain('✗');
  expect(readFileSync(join(app, 'pipeline.yaml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=node_modules\/tanren\/docs\/pipeline\.schema\.json\n/,
  );
  expect(readFileSync(join(app, 'artifacts/report/page.html'), 'utf8').length).toBeGreaterThan(100_000);
}, 240_000);
