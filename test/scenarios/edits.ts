/** Scenarios of edits: what a change runs, and what it leaves alone. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import { renameSync, statSync, utimesSync } from 'node:fs';
import { seededRandom } from '../../src/stage/random.js';
import { append, B, removeAll } from './forge.js';
import { buildAgain, buildFirst, type Scenario, scenario } from './scene.js';

export const EDITS: readonly Scenario[] = [
  scenario(1, 'a second build runs nothing', forge => {
    buildFirst(forge);
    buildAgain(forge, []);
  }),
  scenario(2, 'a touch that changes only the time runs nothing', forge => {
    buildFirst(forge);
    utimesSync(forge.path('a.txt'), new Date(), new Date());
    buildAgain(forge, []);
  }),
  scenario(3, 'an edit runs the affected stages, and no others', forge => {
    buildFirst(forge);
    append(forge, 'b.txt', 'more');
    buildAgain(forge, ['b', 'c']);
  }),
  scenario(4, 'an edit that does not change the bytes of an output runs nothing after that stage', forge => {
    buildFirst(forge);
    append(forge, 'a.txt', '# another note');
    buildAgain(forge, ['a']);
  }),
  scenario(5, 'a reverted edit is restored without running', forge => {
    buildFirst(forge);
    const before = forge.project.read('b.txt');
    append(forge, 'b.txt', 'more');
    buildAgain(forge, ['b', 'c']);
    forge.project.write('b.txt', before);
    buildAgain(forge, []);
  }),
  scenario(6, 'a deleted output is restored', forge => {
    buildFirst(forge);
    removeAll(forge, 'artifacts/b');
    buildAgain(forge, []);
  }),
  scenario(7, 'an output edited by hand is noticed and repaired', forge => {
    buildFirst(forge);
    forge.project.write('artifacts/b/text', 'forged\n');
    buildAgain(forge, []);
  }),
  scenario(8, "a change of a stage's script runs it", forge => {
    buildFirst(forge);
    forge.setScript(`${B}; true`);
    buildAgain(forge, ['b']);
  }),
  scenario(9, 'an edit that keeps the size and resets the time is noticed', forge => {
    buildFirst(forge);
    const { atime, mtime } = statSync(forge.path('b.txt'));
    forge.project.write('b.txt', 'owt\n');
    utimesSync(forge.path('b.txt'), atime, mtime);
    buildAgain(forge, ['b', 'c']);
  }),
  scenario(10, 'a file added to a folder is noticed', forge => {
    buildFirst(forge);
    forge.project.write('parts/2.txt', 'four\n');
    buildAgain(forge, ['b', 'c']);
  }),
  scenario(11, 'a file removed from a folder is noticed', forge => {
    buildFirst(forge);
    forge.project.write('parts/2.txt', 'four\n');
    buildAgain(forge, ['b', 'c']);
    removeAll(forge, 'parts/2.txt');
    buildAgain(forge, []);
  }),
  scenario(12, 'a change of a declared environment variable runs its stage', forge => {
    buildFirst(forge);
    const built = forge.project.with({ environment: { TEMPER: 'soft' } }).run('build');
    strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    deepStrictEqual(forge.ran(), ['b', 'c']);
    forge.expectRight('soft');
  }),
  scenario(
    25,
    '25 random edits, reverts and deletions: incremental equals clean at every step',
    forge => {
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
    },
    { pace: 'slow' },
  ),
  scenario(30, 'a time in the future, and a clock that was set back: edits are noticed', forge => {
    const future = new Date(Date.now() + 86_400_000);
    utimesSync(forge.path('b.txt'), future, future);
    buildFirst(forge);
    forge.project.write('b.txt', 'now\n');
    buildAgain(forge, ['b', 'c']);
    forge.project.write('b.txt', 'new\n');
    utimesSync(forge.path('b.txt'), new Date(0), new Date(0));
    buildAgain(forge, ['b', 'c']);
  }),
  scenario(31, 'an input replaced by a renamed file with the same content runs nothing', forge => {
    buildFirst(forge);
    forge.project.write('b.new', forge.project.read('b.txt'));
    renameSync(forge.path('b.new'), forge.path('b.txt'));
    buildAgain(forge, []);
  }),
  scenario(46, 'a moved checkout is up to date, or restored; nothing runs', forge => {
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
];
