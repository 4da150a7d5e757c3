/** A build opens no connection that the user did not configure: every system call of a default build that names an address is watched. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noStrace } from '../support/guards.js';
import { DIST, givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

/** strace as the guards use it; without it there is nothing to watch with. */
const suite = noStrace === undefined ? describe : describe.skip;

suite('outgoing connections', () => {
  let folder: string;
  let project: ShapesProject;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tanren-connections-'));
    project = givenShapesProject(2);
  });
  afterAll(() => {
    project.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs Node under strace. @returns the calls with an internet address, of it and of every process that it starts. */
  function watch(args: readonly string[]): { readonly status: number | null; readonly calls: readonly string[] } {
    const trace = join(folder, 'trace');
    const watched = ['-f', '-qq', '-e', 'trace=connect,sendto,sendmsg,sendmmsg', '-o', trace, process.execPath, ...args];
    const { status } = spawnSync('strace', watched, { cwd: project.path('.'), stdio: 'ignore', timeout: 280_000 });
    const calls = readFileSync(trace, 'utf8').split('\n');
    return { status, calls: calls.filter(call => /sa_family=AF_INET6?/.test(call)) };
  }

  it('are seen by the watch', () => {
    const { calls } = watch(['-e', "require('node:net').connect(9, '127.0.0.1').on('error', () => {})"]);
    expect(calls).toEqual([expect.stringContaining('htons(9)')]);
  });

  it('a default build has none, in no process', () => {
    const { status, calls } = watch([join(DIST, 'bin/tanren.js'), 'build']);
    expect(calls).toEqual([]);
    expect(status).toBe(0);
    expect(readFileSync(project.path('artifacts/report/page.html'), 'utf8').length).toBeGreaterThan(10_000);
  }, 300_000);
});
