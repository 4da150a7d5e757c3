/** Scenarios of chance: random edits, kills and graphs, each replayed by the seed that a failure prints. */
import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seededRandom } from '../../src/stage/random.js';
import { playKillRounds } from '../support/kill-rounds.js';
import { checkRandomBuilds } from '../support/random-builds.js';
import { roundsOf } from '../support/rounds.js';
import { findDamage } from '../support/upper-lines.js';
import { DIST } from '../support/world.js';
import { append, type Forge, removeAll } from './forge.js';
import { buildFirst, type Scenario, scenario } from './scene.js';

const KILLS = roundsOf(500);
const HISTORIES = roundsOf(400);

/** What each stage's result depends on: two equal ones are one action. */
function actionsOf(forge: Forge, parts: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const stripped = forge.project
    .read('a.txt')
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .join('\n');
  const b = JSON.stringify([stripped, forge.project.read('b.txt'), [...parts].sort()]);
  const c = `${stripped}${forge.project.read('b.txt')}${[...parts]
    .sort()
    .map(([, text]) => text)
    .join('')}`;
  return { a: forge.project.read('a.txt'), b, c, lone: forge.project.read('lone.txt') };
}

export const CHANCE: readonly Scenario[] = [
  scenario(
    42,
    'forty random edits, reverts and deletions: only stages whose action has no result yet run',
    forge => {
      const seed = process.env.TANREN_SEED ?? `${Date.now()}`;
      const random = seededRandom(seed, 'forty');
      const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
      const parts = new Map([['1.txt', 'three\n']]);
      const done = new Set<string>();
      const build = (where: string): void => {
        const actions = Object.entries(actionsOf(forge, parts)).map(([stage, action]) => [stage, `${stage} ${action}`] as const);
        const expected = actions.filter(([, action]) => !done.has(action)).map(([stage]) => stage);
        const built = forge.build('--jobs', `${1 + Math.floor(random() * 8)}`);
        strictEqual(built.exitCode, 0, `${where}: ${built.stdout}`);
        deepStrictEqual(built.ran, expected, where);
        for (const [, action] of actions) done.add(action);
        forge.expectRight();
      };
      build(`seed ${seed}, first`);
      for (let step = 0; step < 40; step++) {
        const what = pick(['edit', 'edit', 'comment', 'part', 'delete part', 'delete output', 'nothing']);
        if (what === 'edit') forge.project.write(pick(['a.txt', 'b.txt', 'lone.txt']), `${pick(['hot', 'cold', 'red'])}\n`);
        else if (what === 'comment') append(forge, 'a.txt', pick(['# one', '# two']));
        else if (what === 'part') {
          const [name, text] = [pick(['1.txt', '2.txt', '3.txt']), `${pick(['x', 'y'])}\n`];
          parts.set(name, text);
          forge.project.write(`parts/${name}`, text);
        } else if (what === 'delete part' && parts.size > 1) {
          const name = pick([...parts.keys()]);
          parts.delete(name);
          removeAll(forge, `parts/${name}`);
        } else if (what === 'delete output') removeAll(forge, `artifacts/${pick(['a', 'b', 'c', 'lone'])}`);
        build(`seed ${seed}, step ${step}, ${what}`);
      }
    },
    { pace: 'slow' },
  ),
  {
    number: 40,
    title: `SIGKILL at random moments, ${KILLS} times: no damage, no process left, the next build is right`,
    pace: 'slow',
    play: () => playKillRounds(KILLS),
  },
  {
    number: 41,
    title: `${HISTORIES} histories of random graphs, edits of sources, programs, modules and parts, failures, kills, --jobs 1 to 8, with and without a cache: each build does what a model says`,
    pace: 'slow',
    play: () => checkRandomBuilds(HISTORIES),
  },
  scenario(
    79,
    'a clock that jumps back and forth by a day between builds: every edit is noticed, and nothing runs without an edit',
    forge => {
      const preload = `--import=${pathToFileURL(join(DIST, 'test/support/shift-clock.js')).href}`;
      const day = 86_400_000;
      const buildAt = (shiftMs: number): readonly string[] => {
        const built = forge.project.with({ environment: { NODE_OPTIONS: preload, CLOCK_SHIFT_MS: `${shiftMs}` } }).run('build');
        strictEqual(built.exitCode, 0, built.stdout + built.stderr);
        forge.expectRight();
        return forge.ran();
      };
      buildAt(0);
      for (const [i, shiftMs] of [-day, 0, day, 0, -day, day].entries()) {
        forge.project.write('b.txt', `edit ${i}\n`);
        strictEqual(buildAt(shiftMs).join(), 'b,c', `edit ${i}`);
        strictEqual(buildAt(shiftMs).join(), '', `after edit ${i}`);
        // As long as the one before, and at once.
        forge.project.write('b.txt', `edit ${i + 10}\n`.slice(0, 7));
        buildAt(shiftMs);
      }
    },
    { pace: 'slow' },
  ),
  scenario(
    43,
    'SIGKILL between a rename and its record, and around each publication: the next build is correct',
    forge => {
      buildFirst(forge);
      const preload = `--import=${pathToFileURL(join(DIST, 'test/support/die-at-write.js')).href}`;
      const moments = [
        '^rename(Sync)? \\S+ cache/cas/',
        '^rename(Sync)? \\S+ cache/actions/',
        '^rename(Sync)? artifacts/b ',
        '^rename(Sync)? \\S+ artifacts/b$',
        '^(appendFileSync|renameSync) cache/state/',
      ];
      for (const [i, moment] of moments.entries()) {
        forge.project.write('b.txt', `edit ${i}\n`);
        const died = forge.project.with({ environment: { NODE_OPTIONS: preload, DIE_AT_CALL: moment } }).run('build');
        strictEqual(died.exitCode, null, `no call was ${moment}:\n${died.stdout}${died.stderr}`);
        notStrictEqual(died.stderr.indexOf('died before'), -1, died.stderr);
        strictEqual(findDamage(forge.path('cache/cas')).join(), '', moment);
        const built = forge.build();
        strictEqual(built.exitCode, 0, built.stdout + built.stderr);
        strictEqual(/warning|damaged/.test(built.stdout), false, `${moment}:\n${built.stdout}`);
        forge.expectRight();
      }
    },
    { pace: 'slow' },
  ),
];
