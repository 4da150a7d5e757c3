/** Which things happen to build systems, and what must a build do then? Each with the real command line, on the forge of four stages. */
import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert';
import { chmodSync, readdirSync, readFileSync, renameSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../src/stage/random.js';
import { append, B, type Forge, makeFolder, removeAll, withForge } from './forge.js';

export interface Scenario {
  readonly title: string;
  /** @throws where the promise is broken. */
  readonly play: () => Promise<void>;
}

const scenario = (
  title: string,
  scene: (forge: Forge) => Promise<void> | void,
  environment?: Readonly<Record<string, string>>,
): Scenario => ({
  title,
  play: () => withForge(scene, environment),
});

/** Builds all of it, which must work. */
function buildFirst(forge: Forge): void {
  const first = forge.build();
  strictEqual(first.exitCode, 0, first.stdout + first.stderr);
  deepStrictEqual(first.ran, ['a', 'b', 'c', 'lone']);
  forge.expectRight();
}

/** Builds: exactly these stages run, and everything is right. */
function buildAgain(forge: Forge, ran: readonly string[], temper?: string): void {
  const built = forge.build();
  strictEqual(built.exitCode, 0, built.stdout + built.stderr);
  deepStrictEqual(built.ran, ran);
  forge.expectRight(temper);
}

/** Every regular file below a folder of the project. */
function filesBelow(forge: Forge, folder: string): readonly string[] {
  return readdirSync(forge.path(folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
}

const EDITS: readonly Scenario[] = [
  scenario('a second build runs nothing', forge => {
    buildFirst(forge);
    buildAgain(forge, []);
  }),
  scenario('a touch that changes the time alone runs nothing', forge => {
    buildFirst(forge);
    utimesSync(forge.path('a.txt'), new Date(), new Date());
    buildAgain(forge, []);
  }),
  scenario('an edit runs what it reaches, and nothing else', forge => {
    buildFirst(forge);
    append(forge, 'b.txt', 'more');
    buildAgain(forge, ['b', 'c']);
  }),
  scenario('an edit that changes no bytes of an output stops there', forge => {
    buildFirst(forge);
    append(forge, 'a.txt', '# another note');
    buildAgain(forge, ['a']);
  }),
  scenario('an edit taken back is restored without running', forge => {
    buildFirst(forge);
    const before = forge.project.read('b.txt');
    append(forge, 'b.txt', 'more');
    buildAgain(forge, ['b', 'c']);
    forge.project.write('b.txt', before);
    buildAgain(forge, []);
  }),
  scenario('a deleted output comes back', forge => {
    buildFirst(forge);
    removeAll(forge, 'artifacts/b');
    buildAgain(forge, []);
  }),
  scenario('an output edited by hand is noticed and repaired', forge => {
    buildFirst(forge);
    forge.project.write('artifacts/b/text', 'forged\n');
    buildAgain(forge, []);
  }),
  scenario("a change of a stage's script runs it", forge => {
    buildFirst(forge);
    forge.setScript(`${B}; true`);
    buildAgain(forge, ['b']);
  }),
  scenario('an edit that keeps size and forges the time is seen', forge => {
    buildFirst(forge);
    const { atime, mtime } = statSync(forge.path('b.txt'));
    forge.project.write('b.txt', 'owt\n');
    utimesSync(forge.path('b.txt'), atime, mtime);
    buildAgain(forge, ['b', 'c']);
  }),
  scenario('a file that comes into a folder is seen', forge => {
    buildFirst(forge);
    forge.project.write('parts/2.txt', 'four\n');
    buildAgain(forge, ['b', 'c']);
  }),
  scenario('a file that leaves a folder is seen', forge => {
    buildFirst(forge);
    forge.project.write('parts/2.txt', 'four\n');
    buildAgain(forge, ['b', 'c']);
    removeAll(forge, 'parts/2.txt');
    buildAgain(forge, []);
  }),
  scenario('a declared variable of the environment that changes runs its stage', forge => {
    buildFirst(forge);
    const built = forge.project.with({ environment: { TEMPER: 'soft' } }).run('build');
    strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    deepStrictEqual(forge.ran(), ['b', 'c']);
    forge.expectRight('soft');
  }),
];

const FAILURES: readonly Scenario[] = [
  scenario('a failed stage ends the build with 1, what needs it is skipped, and the next build tries again', forge => {
    forge.hook('b', 'exit 3');
    const failed = forge.build();
    strictEqual(failed.exitCode, 1);
    ok(!failed.ran.includes('c'));
    forge.hook('b', '');
    const mended = forge.build();
    strictEqual(mended.exitCode, 0, mended.stdout);
    deepStrictEqual(
      mended.ran.filter(name => name !== 'lone'),
      ['b', 'c'],
    );
    forge.expectRight();
  }),
  scenario('with --keep-going, what does not need the failed stage runs', forge => {
    forge.hook('a', 'exit 3');
    const failed = forge.build('--keep-going', '--jobs', '1');
    strictEqual(failed.exitCode, 1);
    deepStrictEqual(failed.ran, ['a', 'lone']);
  }),
  scenario('SIGKILL in the middle of a stage that has written half: the next build is right', async forge => {
    forge.hook('b', 'echo half > out.txt; echo > $HOOKS/started; sleep 30');
    const running = forge.start();
    await waitForFile(forge, '.hooks/started');
    running.signal('SIGKILL');
    await running.ended;
    forge.hook('b', '');
    const built = forge.build();
    strictEqual(built.exitCode, 0, built.stdout);
    forge.expectRight();
  }),
  scenario('Ctrl-C ends at once with 130, leaves no process, and the next build is right', async forge => {
    forge.hook('b', 'echo > $HOOKS/started; echo $$ > $HOOKS/pid; sleep 30');
    const running = forge.start();
    await waitForFile(forge, '.hooks/pid');
    const asked = performance.now();
    running.signal('SIGINT');
    strictEqual(await running.ended, 130);
    ok(performance.now() - asked < 3000, 'it took long to end');
    await expectGone(Number(forge.project.read('.hooks/pid')));
    forge.hook('b', '');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario('SIGKILL of the tool alone: no stage that goes on writes over a later output', async forge => {
    forge.hook('b', 'echo > $HOOKS/started; sleep 1; echo late > out.txt');
    const running = forge.start();
    await waitForFile(forge, '.hooks/started');
    running.signal('SIGKILL');
    await running.ended;
    forge.hook('b', '');
    strictEqual(forge.build().exitCode, 0);
    await wait(1300);
    forge.expectRight();
    strictEqual(forge.build().stdout.includes('nothing to do'), true);
  }),
  scenario('an input edited while its stage runs: the result is of the edited one', async forge => {
    forge.hook('b', '[ -e $HOOKS/once ] || { echo > $HOOKS/once; sleep 0.6; }');
    const running = forge.start();
    await waitForFile(forge, '.hooks/once');
    append(forge, 'b.txt', 'edited meanwhile');
    strictEqual(await running.ended, 0);
    forge.expectRight();
    strictEqual(forge.build().stdout.includes('nothing to do'), true);
  }),
  scenario('an input edited while an earlier stage runs, and taken back: no result stands under the wrong key', async forge => {
    forge.hook('a', '[ -e $HOOKS/once ] || { echo > $HOOKS/once; sleep 0.6; }');
    const before = forge.project.read('b.txt');
    const running = forge.start();
    await waitForFile(forge, '.hooks/once');
    append(forge, 'b.txt', 'edited meanwhile');
    strictEqual(await running.ended, 0);
    forge.expectRight();
    forge.project.write('b.txt', before);
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario('two builds at once: both right, each stage once', async forge => {
    forge.hook('a', 'sleep 0.3');
    const both = [forge.start(), forge.start()];
    for (const one of both) strictEqual(await one.ended, 0, one.output());
    deepStrictEqual(forge.ran(), ['a', 'b', 'c', 'lone']);
    forge.expectRight();
  }),
  scenario('ten builds at once, some killed at random: the rest is right, and no stage runs beside itself', async forge => {
    const random = seededRandom('ten builds', 'moments');
    const builds = Array.from({ length: 10 }, () => forge.start());
    const killed = builds.filter((_, i) => i % 3 === 0);
    await wait(200);
    for (const one of killed) {
      await wait(random() * 150);
      one.signal('SIGKILL');
    }
    for (const one of builds) {
      const code = await one.ended;
      if (!killed.includes(one)) strictEqual(code, 0, one.output());
    }
    forge.expectRight();
    strictEqual(forge.build().stdout.includes('nothing to do'), true);
  }),
];

const STORE: readonly Scenario[] = [
  scenario('a stale file in an output folder is gone after a rebuild and after a restore', forge => {
    buildFirst(forge);
    forge.project.write('artifacts/c/all/stale.txt', 'x');
    buildAgain(forge, []);
    append(forge, 'b.txt', 'more');
    forge.project.write('artifacts/c/all/stale.txt', 'x');
    buildAgain(forge, ['b', 'c']);
  }),
  scenario('a restored output keeps its mode', forge => {
    buildFirst(forge);
    removeAll(forge, 'artifacts');
    buildAgain(forge, []);
    strictEqual(statSync(forge.path('artifacts/c/all/lines.txt')).mode & 0o111, 0o111);
    strictEqual(statSync(forge.path('artifacts/c/all/copy.txt')).mode & 0o111, 0);
  }),
  scenario('the log of a restored stage is that of the run that made it', forge => {
    forge.hook('b', 'echo hammering');
    buildFirst(forge);
    removeAll(forge, 'artifacts');
    removeAll(forge, 'cache/logs');
    removeAll(forge, 'cache/state');
    buildAgain(forge, []);
    match(forge.project.run('log', 'b').stdout, /hammering/);
  }),
  scenario('SIGKILL while a large output is being stored: what is restored later is whole', async forge => {
    forge.setScript('echo b >> $TRACE; . $HOOKS/b; head -c 150000000 /dev/zero > out.txt; cat a.txt >> out.txt; echo > $HOOKS/written');
    const delays = [5, 20, 60, 120, 250];
    for (const delayMs of delays) {
      removeAll(forge, 'cache');
      removeAll(forge, 'artifacts');
      removeAll(forge, '.hooks/written');
      const running = forge.start('b');
      await waitForFile(forge, '.hooks/written');
      await wait(delayMs);
      running.signal('SIGKILL');
      await running.ended;
      strictEqual(forge.build('b').exitCode, 0);
      strictEqual(statSync(forge.path('artifacts/b/text')).size, 150_000_004, `after ${delayMs} ms`);
    }
  }),
  scenario('25 random edits, reverts and deletions: incremental equals clean at every step', forge => {
    const random = seededRandom('twenty-five', 'steps');
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    buildFirst(forge);
    for (let step = 0; step < 25; step++) {
      const file = pick(['a.txt', 'b.txt', 'parts/1.txt', 'parts/2.txt', 'lone.txt']);
      const what = pick(['append', 'reset', 'delete output', 'comment']);
      if (what === 'append') forge.project.write(file, `${random() < 0.5 ? 'hot' : 'cold'}\n`);
      else if (what === 'reset') forge.project.write(file, 'one\n');
      else if (what === 'comment') append(forge, 'a.txt', '# note');
      else removeAll(forge, `artifacts/${pick(['a', 'b', 'c', 'lone'])}`);
      strictEqual(forge.build().exitCode, 0);
      forge.expectRight();
    }
  }),
  scenario('a bit flipped in every file of the store: no wrong byte is delivered', forge => {
    buildFirst(forge);
    for (const path of filesBelow(forge, 'cache/cas')) {
      const bytes = readFileSync(path);
      if (bytes.length === 0) continue;
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      chmodSync(path, 0o600);
      writeFileSync(path, bytes);
    }
    removeAll(forge, 'artifacts');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario('every state, record and kept plan cut to half: the next build recovers by itself', forge => {
    buildFirst(forge);
    for (const folder of ['cache/state', 'cache/actions', 'cache/plans', 'cache/cas']) {
      for (const path of filesBelow(forge, folder)) {
        chmodSync(path, 0o600);
        truncateSync(path, Math.floor(statSync(path).size / 2));
      }
    }
    removeAll(forge, 'artifacts/b');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
    strictEqual(forge.build().stdout.includes('nothing to do'), true);
  }),
  scenario('a cache that cannot be written: a warning, right artifacts, exit code 0', forge => {
    makeFolder(forge, 'cache');
    // A file where a folder is wanted refuses everybody, root too, which a mode does not.
    for (const name of ['cas', 'actions']) forge.project.write(`cache/${name}`, '');
    const built = forge.build();
    strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    match(built.stdout, /cache-write-failed/);
    forge.expectRight();
  }),
  scenario('a time in the future, and a clock that went back: edits are seen', forge => {
    const future = new Date(Date.now() + 86_400_000);
    utimesSync(forge.path('b.txt'), future, future);
    buildFirst(forge);
    forge.project.write('b.txt', 'now\n');
    buildAgain(forge, ['b', 'c']);
    forge.project.write('b.txt', 'new\n');
    utimesSync(forge.path('b.txt'), new Date(0), new Date(0));
    buildAgain(forge, ['b', 'c']);
  }),
  scenario('an input replaced by a renamed file of the same content runs nothing', forge => {
    buildFirst(forge);
    forge.project.write('b.new', forge.project.read('b.txt'));
    renameSync(forge.path('b.new'), forge.path('b.txt'));
    buildAgain(forge, []);
  }),
  scenario('an output that is a link to elsewhere is refused, and nothing of it is published', forge => {
    forge.setScript('echo b >> $TRACE; ln -s /etc/hostname out.txt');
    const built = forge.build();
    strictEqual(built.exitCode, 1);
    match(built.stdout, /did not write text \("out.txt"\) as a file or folder/);
    strictEqual(forge.project.exists('artifacts/b/text'), false);
  }),
  scenario('a moved checkout is up to date, or restored; nothing runs', forge => {
    buildFirst(forge);
    const moved = `${forge.project.folder}-moved`;
    renameSync(forge.project.folder, moved);
    try {
      const built = forge.project.with({ folder: moved }).run('build');
      strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    } finally {
      renameSync(moved, forge.project.folder);
    }
    deepStrictEqual(forge.ran(), []);
  }),
  scenario('a collection of garbage beside a build: the build is right, and so is the next', async forge => {
    buildFirst(forge);
    append(forge, 'b.txt', 'more');
    forge.hook('b', 'sleep 0.4');
    const running = forge.start();
    await wait(150);
    const collected = forge.project.run('cache', 'gc', '--max-size', '1B');
    strictEqual(collected.exitCode, 0, collected.stdout);
    strictEqual(await running.ended, 0);
    forge.expectRight();
    notStrictEqual(forge.project.run('cache', 'verify').exitCode, 1);
    removeAll(forge, 'artifacts');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
];

export const SCENARIOS: readonly Scenario[] = [...EDITS, ...FAILURES, ...STORE];

async function waitForFile(forge: Forge, name: string): Promise<void> {
  for (let tries = 0; !forge.project.exists(name); tries++) {
    if (tries > 1000) throw new Error(`${name} does not come`);
    await wait(10);
  }
}

async function expectGone(pid: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await wait(20);
  }
  throw new Error(`process ${pid} is still there`);
}
