/** Scenarios of builds that run at the same time, or find what others have left. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../src/stage/random.js';
import { followProcess } from '../support/cli-world.js';
import { roundsOf } from '../support/rounds.js';
import { findDamage } from '../support/upper-lines.js';
import { DIST } from '../support/world.js';
import { append, type Forge } from './forge.js';
import { buildFirst, project, type Scenario, scenario, waitForFile } from './scene.js';

const hasPidNamespaces =
  process.platform === 'linux' && spawnSync('unshare', ['-rpf', 'true']).status === 0
    ? undefined
    : 'needs process namespaces (unshare -rpf)';

const ROUNDS = roundsOf(100);

/** Ten builds of an edit at once, some of them killed: those that are left are right, and what was to run ran once where no kill was in its way. */
async function playTen(forge: Forge, random: () => number, round: number): Promise<void> {
  forge.project.write('a.txt', `one ${round}\n# note\n`);
  forge.ran();
  const builds = Array.from({ length: 10 }, () => forge.start('--jobs', `${1 + Math.floor(random() * 4)}`));
  const killed = new Set([builds[Math.floor(random() * 10)], builds[Math.floor(random() * 10)]]);
  await wait(random() * 900);
  for (const one of killed) {
    await wait(random() * 100);
    one?.signal('SIGKILL');
  }
  for (const one of builds) {
    const code = await one.ended;
    if (!killed.has(one)) strictEqual(code, 0, `round ${round}: ${one.output()}`);
  }
  forge.expectRight();
  const ran = forge.ran();
  for (const stage of ['a', 'b', 'c']) {
    const times = ran.filter(name => name === stage).length;
    ok(times >= 1 && times <= 1 + killed.size, `round ${round}: ${stage} ran ${times} times, with ${killed.size} builds killed`);
  }
  strictEqual(findDamage(forge.path('cache/cas')).join(), '', `round ${round}`);
}

export const CONCURRENCY: readonly Scenario[] = [
  scenario(
    39,
    `ten builds at once, one or two of them killed at random, ${ROUNDS} rounds: the others are right, each stage ran once for each kill at most and once more`,
    async forge => {
      const seed = process.env.TANREN_SEED ?? `${Date.now()}`;
      const random = seededRandom(seed, 'ten builds');
      buildFirst(forge);
      try {
        for (let round = 0; round < ROUNDS; round++) await playTen(forge, random, round);
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    },
    { pace: 'slow' },
  ),
  scenario(
    44,
    'two containers whose builds are both process 1, on one project: both are correct, each stage runs once',
    async forge => {
      forge.hook('a', 'sleep 0.3');
      const both = [0, 1].map(() =>
        followProcess(
          spawn('unshare', ['-rpf', '--mount-proc', process.execPath, join(DIST, 'bin/tanren.js'), 'build'], {
            cwd: forge.project.folder,
            env: { ...process.env, NO_COLOR: '1', TEMPER: 'hard' },
            stdio: ['ignore', 'pipe', 'pipe'],
          }),
        ),
      );
      for (const one of both) strictEqual(await one.ended, 0, one.output());
      deepStrictEqual(forge.ran(), ['a', 'b', 'c', 'lone']);
      forge.expectRight();
    },
    { obstacle: hasPidNamespaces },
  ),
  scenario(73, 'a killed lock holder: the waiting builds continue, and each stage runs at most once more', async forge => {
    forge.hook('a', 'echo > $HOOKS/started; sleep 30');
    const holder = forge.start();
    await waitForFile(forge, '.hooks/started');
    const waiting = [0, 1, 2].map(() => forge.start());
    for (const one of waiting) await one.waitFor('wait');
    forge.hook('a', '');
    holder.signal('SIGKILL');
    await holder.ended;
    for (const one of waiting) strictEqual(await one.ended, 0, one.output());
    deepStrictEqual(
      forge.ran().filter(stage => stage !== 'lone'),
      ['a', 'a', 'b', 'c'],
    );
    forge.expectRight();
  }),
  scenario(74, 'watch and build at the same time: both are correct, each stage runs once per edit', async forge => {
    const watch = forge.project.start('watch');
    await watch.waitFor('watching; Ctrl-C ends');
    deepStrictEqual(forge.ran(), ['a', 'b', 'c', 'lone']);
    for (let round = 0; round < 3; round++) {
      append(forge, 'b.txt', `edit ${round}`);
      const build = forge.start();
      strictEqual(await build.ended, 0, build.output());
      forge.expectRight();
      await watch.waitFor('watching; Ctrl-C ends');
      deepStrictEqual(forge.ran(), ['b', 'c'], `edit ${round}`);
    }
    watch.signal('SIGINT');
    strictEqual(await watch.ended, 130);
    match(forge.build().stdout, /nothing to do/);
  }),
  project(
    78,
    'thirty stages at the same time: nothing is said but what they did',
    `version: 1
stages:
  each: {foreach: [${Array.from({ length: 30 }, (_, i) => i)}], uses: command, timeout: 60s, with: {run: ["sleep 0.3; echo \${item} > out"], shell: sh, outputs: {o: out}}}
`,
    world => {
      const built = world.run('build', '--jobs', '30');
      strictEqual(built.exitCode, 0, built.stderr);
      strictEqual(built.stderr, '');
      match(built.stdout, /30 executed/);
    },
  ),
  scenario(75, 'a copied checkout with its cache and artifacts: nothing runs, and the checkouts are independent', forge => {
    buildFirst(forge);
    const copy = `${forge.project.folder}-copy`;
    // With their times; inodes, and the times of their changes, are new.
    execFileSync('cp', ['-a', forge.project.folder, copy]);
    try {
      const there = forge.project.with({ folder: copy });
      const built = there.run('build');
      strictEqual(built.exitCode, 0, built.stdout + built.stderr);
      deepStrictEqual(forge.ran(), []);
      append(forge, 'b.txt', 'more');
      deepStrictEqual(forge.build().ran, ['b', 'c']);
      match(there.run('build').stdout, /nothing to do/);
      forge.expectRight();
    } finally {
      rmSync(copy, { recursive: true });
    }
  }),
];
