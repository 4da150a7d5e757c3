/** `tanren watch` on a terminal: keys compare figures, show logs and states, build again and end; without a terminal there are none. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type CliProcess, type CliWorld, followProcess, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { DIST } from '../../support/world.js';

/** util-linux's `script` runs a program on a terminal of its own. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

const READY = 'watching; b compare, l log, m figures, s state, f filter, i subset, r run, q end';

(hasScript ? describe : describe.skip)('watch on a terminal of 80 columns', () => {
  let world: CliWorld;
  let child: ChildProcess;
  let watch: CliProcess;
  const press = (key: string): void => void child.stdin?.write(key);
  beforeEach(async () => {
    world = givenProject(TEXT_PROJECT);
    const command = `stty cols 80 rows 24; mode=$(stty -g); ${process.execPath} ${join(DIST, 'bin/tanren.js')} watch; code=$?; [ $mode = $(stty -g) ] && echo the line mode is as before; exit $code`;
    const env = { ...process.env, TERM: 'xterm', CI: undefined, NO_COLOR: '1', FORCE_COLOR: undefined };
    child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: world.folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    watch = followProcess(child);
    await watch.waitFor(READY);
  });
  afterEach(async () => {
    // Killing `script` would leave the watch to end by itself, while it still writes into the folder.
    if (child.exitCode === null) press('\u0003');
    await watch.ended;
    world.remove();
  });

  it('shows the log, the figures and the states, and ends with q', async () => {
    press('s');
    expect(await watch.waitFor(READY)).toContain('nothing to do: 4 stages up to date');
    press('m');
    expect(await watch.waitFor(READY)).toContain('quality.words');
    press('l');
    expect(await watch.waitFor(READY)).toContain('── shout');
    press('q');
    expect(await watch.ended).toBe(0);
  });

  it('compares with the run before and with each baseline in turn', async () => {
    world.write('score.txt', '{"quality": {"words": 5}}\n');
    await watch.waitFor(READY);
    expect(world.run('metrics', '--save', 'five').exitCode).toBe(0);
    world.write('score.txt', '{"quality": {"words": 7}}\n');
    await watch.waitFor(READY);
    press('b');
    expect(await watch.waitFor(READY)).toMatch(/against the run before[\s\S]*quality\.words\s+5\s+7/);
    press('b');
    expect(await watch.waitFor(READY)).toMatch(/against the baseline five[\s\S]*quality\.words\s+5\s+7/);
    press('b');
    expect(await watch.waitFor(READY)).toContain('against the run before');
  });

  it('builds again with r, also what nobody edited, and ends with Ctrl-C', async () => {
    press('r');
    expect(await watch.waitFor(READY)).toContain('nothing to do');
    press('\u0003');
    expect(await watch.ended).toBe(130);
  });

  it('ends with q in a round, and leaves the terminal as it was', async () => {
    world.write('notes.txt', 'again\n');
    await watch.waitFor('shout');
    press('q');
    expect(await watch.ended).toBe(0);
    expect(watch.output()).toContain('the line mode is as before');
    expect(watch.output()).not.toMatch(/\p{Cc}\[\?25l/u);
  });

  it('prints lines of at most 80 columns', () => {
    const lines = watch
      .output()
      .replace(/\p{Cc}\[[0-9;]*[A-Za-z]/gu, '')
      .split(/\r?\n/);
    expect(lines.filter(line => line.length > 80)).toEqual([]);
  });
});

it('watch without a terminal has no keys', async () => {
  const world = givenProject(TEXT_PROJECT);
  const watch = world.start('watch');
  expect(await watch.waitFor('watching; Ctrl-C ends')).not.toContain('b compares');
  world.remove();
});
