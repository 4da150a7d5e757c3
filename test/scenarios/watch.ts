/** Scenarios of `tanren watch`: it sees what editors, git and people do, runs each stage that an edit reaches once more, and stops what is outdated. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CliProcess, followProcess } from '../support/cli-world.js';
import { until } from '../support/until.js';
import { DIST } from '../support/world.js';
import { append, B, type Forge, removeAll } from './forge.js';
import { expectGone, type Scenario, type SceneOptions, scenario, waitForFile } from './scene.js';

const READY = 'watching; Ctrl-C ends';

/** A hook whose stage writes its process id to `pid`, and waits until `free` exists. */
const HELD = '[ -e $HOOKS/free ] || { echo $$ > $HOOKS/new; mv $HOOKS/new $HOOKS/pid; while ! [ -e $HOOKS/free ]; do sleep 0.02; done; }';

/** A scenario that starts when everything was built and is watched. */
function watched(
  number: number,
  title: string,
  scene: (forge: Forge, watch: CliProcess) => Promise<void>,
  options: SceneOptions & { readonly args?: readonly string[] } = {},
): Scenario {
  const { args = [], ...others } = options;
  return scenario(
    number,
    title,
    async forge => {
      const watch = forge.project.start('watch', ...args);
      await watch.waitFor(READY);
      deepStrictEqual(forge.ran(), ['a', 'b', 'c', 'lone']);
      await scene(forge, watch).catch((error: unknown) => {
        throw new Error(`${String(error)}\nafter:\n${watch.output()}`, { cause: error });
      });
      watch.signal('SIGINT');
      strictEqual(await watch.ended, 130);
    },
    others,
  );
}

let marks = 0;

/** Waits until everything is right, and nothing is left to be done: what comes next is only what is asked for here. @returns what ran until then. */
async function untilQuiet(forge: Forge, watch: CliProcess): Promise<readonly string[]> {
  await until(() => isRight(forge), 'what a clean build gives').catch(() => forge.expectRight());
  const ran: string[] = [];
  for (let i = 0; i < 2; i++) {
    append(forge, 'lone.txt', `mark ${marks++}`);
    while (!isRight(forge)) await watch.waitFor(READY);
    ran.push(...forge.ran());
  }
  strictEqual(ran.filter(stage => stage === 'lone').length, 2);
  return ran.filter(stage => stage !== 'lone').sort();
}

function isRight(forge: Forge): boolean {
  try {
    forge.expectRight();
    return true;
  } catch {
    return false;
  }
}

const git = (forge: Forge, ...args: readonly string[]): void => {
  const done = spawnSync('git', ['-c', 'user.name=smith', '-c', 'user.email=smith@forge', ...args], { cwd: forge.path('.') });
  strictEqual(done.status, 0, `git ${args.join(' ')}: ${done.stderr}`);
};

const hasGit = spawnSync('git', ['--version']).status === 0;

/** In a user namespace in which there are `count` watches for files. */
const withFewWatches = (count: number, command: string): readonly string[] => [
  '-Ur',
  'sh',
  '-c',
  `echo ${count} > /proc/sys/user/max_inotify_watches && ${command}`,
];
const hasNamespaces = spawnSync('unshare', withFewWatches(3, 'true')).status === 0;

export const WATCH: readonly Scenario[] = [
  scenario(37, 'the watcher is killed between an event and its run: the next build runs the stage', async forge => {
    const watch = forge.project.start('watch');
    await watch.waitFor(READY);
    forge.ran();
    watch.signal('SIGSTOP');
    append(forge, 'b.txt', 'unseen');
    watch.signal('SIGKILL');
    await watch.ended;
    const built = forge.build();
    strictEqual(built.exitCode, 0, built.stdout);
    deepStrictEqual(built.ran, ['b', 'c']);
    forge.expectRight();
  }),
  watched(38, 'watch: a save by rename, and one that removes the file first, each run what they reach once', async (forge, watch) => {
    forge.project.saveByRename('b.txt', 'renamed\n');
    deepStrictEqual(await untilQuiet(forge, watch), ['b', 'c']);
    // As vim saves: the old one goes out of the way first. Where a busy machine makes the gap longer than an editor's, that shows nothing: once more.
    for (let tries = 0; ; tries++) {
      ok(tries < 50, 'the machine is too busy');
      const before = watch.output().length;
      const started = performance.now();
      renameSync(forge.path('b.txt'), forge.path('b.txt~'));
      await wait(30);
      forge.project.write('b.txt', `written ${tries}\n`);
      const gapMs = performance.now() - started;
      rmSync(forge.path('b.txt~'));
      const ran = await untilQuiet(forge, watch);
      if (gapMs > 80) continue;
      deepStrictEqual(ran, ['b', 'c']);
      const said = watch.output().slice(before);
      ok(!said.includes('input-missing'), said);
      break;
    }
  }),
  watched(60, 'watch: a burst of 1,000 events is one build, or one that is stopped and one more', async (forge, watch) => {
    // Stopped meanwhile: however slow the machine is, the events come to the watcher without a pause.
    watch.signal('SIGSTOP');
    for (let i = 0; i < 500; i++) forge.project.write(`parts/burst-${i}.txt`, `${i}\n`);
    for (let i = 0; i < 499; i++) forge.project.unlink(`parts/burst-${i}.txt`);
    append(forge, 'b.txt', 'last');
    watch.signal('SIGCONT');
    const ran = await untilQuiet(forge, watch);
    ok(ran.filter(stage => stage === 'b').length <= 2, ran.join(' '));
    ok(ran.filter(stage => stage === 'c').length <= 2, ran.join(' '));
  }),
  watched(
    61,
    'watch: git switches branches, files vanish and come, folders too',
    async (forge, watch) => {
      forge.project.write('.gitignore', 'artifacts/\ncache/\n.trace\n.hooks/\n');
      git(forge, 'init', '-q', '-b', 'main');
      git(forge, 'add', '.');
      git(forge, 'commit', '-qm', 'one');
      git(forge, 'checkout', '-qb', 'other');
      git(forge, 'rm', '-rq', 'parts');
      for (let i = 0; i < 50; i++) forge.project.write(`parts/deep/${i}.txt`, `${i}\n`);
      removeAll(forge, 'parts/deep');
      forge.project.write('parts/other.txt', 'other\n');
      forge.project.write('b.txt', 'other\n');
      git(forge, 'add', '.');
      git(forge, 'commit', '-qm', 'two');
      await untilQuiet(forge, watch);
      git(forge, 'stash', '-q');
      git(forge, 'checkout', '-q', 'main');
      // Everything was built once: nothing runs.
      deepStrictEqual(await untilQuiet(forge, watch), []);
      git(forge, 'stash', '-q');
      git(forge, 'checkout', '-q', 'other');
      deepStrictEqual(await untilQuiet(forge, watch), []);
    },
    { pace: 'slow', obstacle: hasGit ? undefined : 'there is no git' },
  ),
  watched(62, 'watch: an edit during a run stops it at once, and is run once', async (forge, watch) => {
    forge.hook('b', '[ -e $HOOKS/free ] || { echo $$ > $HOOKS/new; mv $HOOKS/new $HOOKS/pid; sleep 60; }');
    append(forge, 'b.txt', 'outdated');
    await waitForFile(forge, '.hooks/pid');
    const pid = Number(forge.project.read('.hooks/pid'));
    forge.project.write('.hooks/free', '');
    const asked = performance.now();
    append(forge, 'b.txt', 'wanted');
    await expectGone(pid);
    ok(performance.now() - asked < 20_000, 'it was not stopped: the run takes a minute');
    deepStrictEqual(await untilQuiet(forge, watch), ['b', 'b', 'c']);
    match(watch.output(), /– b {4} *stopped: source b\.txt changed/);
  }),
  watched(
    63,
    'watch: a run that an edit does not reach goes on, its result is kept, and the edit is built beside it',
    async (forge, watch) => {
      forge.hook('lone', HELD);
      append(forge, 'lone.txt', 'slow');
      await waitForFile(forge, '.hooks/pid');
      append(forge, 'b.txt', 'quick');
      await watch.waitFor('✓ c');
      forge.setScript(`${B}; true`);
      await watch.waitFor('✓ b');
      forge.project.write('.hooks/free', '');
      await watch.waitFor(READY);
      deepStrictEqual(forge.ran(), ['b', 'b', 'c', 'lone']);
      forge.expectRight();
      deepStrictEqual(await untilQuiet(forge, watch), []);
      ok(!watch.output().includes('stopped'), watch.output());
    },
  ),
  watched(
    64,
    'watch: what reads a stage that runs again is stopped; a pipeline file with a mistake stops nothing',
    async (forge, watch) => {
      forge.hook('c', HELD);
      append(forge, 'b.txt', 'first');
      await waitForFile(forge, '.hooks/pid');
      const pid = Number(forge.project.read('.hooks/pid'));
      const whole = forge.project.read('pipeline.yaml');
      forge.project.write('pipeline.yaml', whole.replace('uses: command', 'uses: comand'));
      await watch.waitFor('the running build continues with the previous pipeline');
      forge.project.write('pipeline.yaml', whole);
      append(forge, 'a.txt', 'second');
      await watch.waitFor('stopped: a runs again');
      await expectGone(pid);
      forge.project.write('.hooks/free', '');
      deepStrictEqual(await untilQuiet(forge, watch), ['a', 'b', 'b', 'c', 'c']);
    },
  ),
  watched(65, 'watch: artifacts that are edited or removed come back without a run', async (forge, watch) => {
    forge.project.write('artifacts/b/text', 'forged\n');
    await watch.waitFor('↺ b');
    await watch.waitFor(READY);
    forge.expectRight();
    removeAll(forge, 'artifacts');
    deepStrictEqual(await untilQuiet(forge, watch), []);
    forge.project.write('artifacts/c/all/stranger.txt', 'x');
    deepStrictEqual(await untilQuiet(forge, watch), []);
  }),
  watched(294, 'watch: an edit during a run that only a removed artifact started is taken up at once', async (forge, watch) => {
    forge.hook('c', HELD);
    removeAll(forge, 'cache/cas');
    removeAll(forge, 'artifacts/c');
    await waitForFile(forge, '.hooks/pid');
    const pid = Number(forge.project.read('.hooks/pid'));
    append(forge, 'a.txt', 'second');
    await watch.waitFor('stopped: a runs again');
    await expectGone(pid);
    forge.project.write('.hooks/free', '');
    await watch.waitFor(READY);
    forge.expectRight();
  }),
  watched(66, 'watch: a failing stage is tried once per save, and again when it is fixed', async (forge, watch) => {
    forge.hook('b', 'exit 3');
    append(forge, 'b.txt', 'breaks');
    await watch.waitFor(READY);
    append(forge, 'lone.txt', 'other');
    await watch.waitFor(READY);
    deepStrictEqual(forge.ran(), ['b', 'b', 'lone']);
    forge.hook('b', '');
    append(forge, 'b.txt', 'mends');
    deepStrictEqual(await untilQuiet(forge, watch), ['b', 'c']);
  }),
  watched(67, 'watch: a source behind symbolic links, and outside the project, is seen', async (forge, watch) => {
    const outside = `${forge.path('.')}-outside`;
    try {
      mkdirSync(`${outside}/v1/parts`, { recursive: true });
      mkdirSync(`${outside}/v2/parts`, { recursive: true });
      writeFileSync(`${outside}/v1/parts/1.txt`, 'v1\n');
      writeFileSync(`${outside}/v2/parts/1.txt`, 'v2\n');
      writeFileSync(`${outside}/b.txt`, 'outside\n');
      symlinkSync(`${outside}/v1`, `${outside}/now`);
      removeAll(forge, 'parts');
      symlinkSync(`${outside}/now/parts`, forge.path('parts'));
      removeAll(forge, 'b.txt');
      symlinkSync(`${outside}/b.txt`, forge.path('b.txt'));
      await untilQuiet(forge, watch);
      writeFileSync(`${outside}/b.txt`, 'edited\n');
      deepStrictEqual(await untilQuiet(forge, watch), ['b', 'c']);
      writeFileSync(`${outside}/v1/parts/2.txt`, 'more\n');
      deepStrictEqual(await untilQuiet(forge, watch), ['b', 'c']);
      symlinkSync(`${outside}/v2`, `${outside}/next`);
      renameSync(`${outside}/next`, `${outside}/now`);
      deepStrictEqual(await untilQuiet(forge, watch), ['b', 'c']);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  }),
  watched(
    68,
    'watch --poll sees edits without events',
    async (forge, watch) => {
      append(forge, 'b.txt', 'polled');
      await watch.waitFor('✓ c');
      forge.expectRight();
      removeAll(forge, 'artifacts/c');
      await watch.waitFor('↺ c');
      deepStrictEqual(forge.ran(), ['b', 'c']);
    },
    { args: ['--poll'], pace: 'slow' },
  ),
  scenario(
    69,
    'watch: if the system has no file watches left, a warning is printed and files are polled every second',
    async forge => {
      const command = `exec '${process.execPath}' '${join(DIST, 'bin/tanren.js')}' watch`;
      const child = spawn('unshare', withFewWatches(1, command), {
        cwd: forge.path('.'),
        env: { ...process.env, NO_COLOR: '1', TEMPER: 'hard' },
        stdio: 'pipe',
      });
      const watch = followProcess(child);
      try {
        await watch.waitFor(READY);
        match(watch.output(), /warning\[polling\]: the system has no more watches for files: raise fs\.inotify\.max_user_watches/);
        append(forge, 'b.txt', 'polled');
        await watch.waitFor('✓ c');
        forge.expectRight();
      } finally {
        watch.signal('SIGINT');
      }
      strictEqual(await watch.ended, 130);
    },
    { pace: 'slow', obstacle: hasNamespaces ? undefined : 'there are no user namespaces' },
  ),
];
