/** Scenarios of failures, signals, and edits during builds. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../src/stage/random.js';
import { append, type Forge } from './forge.js';
import { expectGone, type Scenario, scenario, waitForFile } from './scene.js';

/** The first run says that it has begun, and goes on when it is let go. */
const HELD = '[ -e $HOOKS/once ] || { echo > $HOOKS/once; until [ -e $HOOKS/go ]; do sleep 0.02; done; }';

/** Builds with `hook` in stage b, kills the build when the hook has made the file `started`, and removes the hook. */
async function killDuring(forge: Forge, hook: string): Promise<void> {
  forge.hook('b', hook);
  const running = forge.start();
  await waitForFile(forge, '.hooks/started');
  running.signal('SIGKILL');
  await running.ended;
  forge.hook('b', '');
}

/** Builds, and edits b.txt while the stage runs. The results belong to the edited file. */
async function editDuring(forge: Forge, stage: string): Promise<void> {
  forge.hook(stage, HELD);
  const running = forge.start();
  await waitForFile(forge, '.hooks/once');
  append(forge, 'b.txt', 'edited meanwhile');
  forge.project.write('.hooks/go', '');
  strictEqual(await running.ended, 0, running.output());
  forge.expectRight();
}

export const INTERRUPTIONS: readonly Scenario[] = [
  scenario(13, 'a failed stage ends the build with 1, its dependents are skipped, and the next build tries again', forge => {
    forge.hook('b', 'exit 3');
    const failed = forge.build();
    strictEqual(failed.exitCode, 1);
    ok(!failed.ran.includes('c'));
    forge.hook('b', '');
    const fixed = forge.build();
    strictEqual(fixed.exitCode, 0, fixed.stdout);
    deepStrictEqual(
      fixed.ran.filter(name => name !== 'lone'),
      ['b', 'c'],
    );
    forge.expectRight();
  }),
  scenario(14, 'with --keep-going, stages that do not depend on the failed stage run', forge => {
    forge.hook('a', 'exit 3');
    const failed = forge.build('--keep-going', '--jobs', '1');
    strictEqual(failed.exitCode, 1);
    deepStrictEqual(failed.ran, ['a', 'lone']);
  }),
  scenario(15, 'SIGKILL of a stage with partial output: the next build is correct', async forge => {
    await killDuring(forge, 'echo half > out.txt; echo > $HOOKS/started; sleep 30');
    const built = forge.build();
    strictEqual(built.exitCode, 0, built.stdout);
    forge.expectRight();
  }),
  scenario(16, 'Ctrl-C exits at once with 130, leaves no process, and the next build is correct', async forge => {
    forge.hook('b', 'echo > $HOOKS/started; echo $$ > $HOOKS/pid; sleep 30');
    const running = forge.start();
    await waitForFile(forge, '.hooks/pid');
    const asked = performance.now();
    running.signal('SIGINT');
    strictEqual(await running.ended, 130);
    ok(performance.now() - asked < 15_000, 'it waited for the stage, which takes 30 s');
    await expectGone(Number(forge.project.read('.hooks/pid')));
    forge.hook('b', '');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario(17, 'SIGKILL of the tool only: no orphaned stage overwrites a later output', async forge => {
    await killDuring(forge, 'echo > $HOOKS/started; sleep 1; echo late > out.txt');
    strictEqual(forge.build().exitCode, 0);
    await wait(1300);
    forge.expectRight();
    strictEqual(forge.build().stdout.includes('nothing to do'), true);
  }),
  scenario(18, 'an input edited while its stage runs: the result belongs to the edited input', async forge => {
    await editDuring(forge, 'b');
    strictEqual(forge.build().stdout.includes('nothing to do'), true);
  }),
  scenario(19, 'an input edited and reverted while an earlier stage runs: no result is stored under the wrong key', async forge => {
    const before = forge.project.read('b.txt');
    await editDuring(forge, 'a');
    forge.project.write('b.txt', before);
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario(20, 'two builds at the same time: both are correct, each stage runs once', async forge => {
    forge.hook('a', 'sleep 0.3');
    const both = [forge.start(), forge.start()];
    for (const one of both) strictEqual(await one.ended, 0, one.output());
    deepStrictEqual(forge.ran(), ['a', 'b', 'c', 'lone']);
    forge.expectRight();
  }),
  scenario(
    76,
    'ten builds at the same time, some killed at random: the others are correct, and no stage runs twice at once',
    async forge => {
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
    },
  ),
];
