/** Scenarios of what the cache delivers, whatever has become of it. */
import { match, notStrictEqual, strictEqual } from 'node:assert';
import { chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { append, makeFolder, removeAll } from './forge.js';
import { buildAgain, buildFirst, filesBelow, type Scenario, scenario, waitForFile } from './scene.js';

export const STORE: readonly Scenario[] = [
  scenario(21, 'a stale file in an output folder is removed by a rebuild and by a restore', forge => {
    buildFirst(forge);
    forge.project.write('artifacts/c/all/stale.txt', 'x');
    buildAgain(forge, []);
    append(forge, 'b.txt', 'more');
    forge.project.write('artifacts/c/all/stale.txt', 'x');
    buildAgain(forge, ['b', 'c']);
  }),
  scenario(22, 'a restored output keeps its mode', forge => {
    buildFirst(forge);
    removeAll(forge, 'artifacts');
    buildAgain(forge, []);
    strictEqual(statSync(forge.path('artifacts/c/all/lines.txt')).mode & 0o111, 0o111);
    strictEqual(statSync(forge.path('artifacts/c/all/copy.txt')).mode & 0o111, 0);
  }),
  scenario(23, 'the log of a restored stage is that of the run that made it', forge => {
    forge.hook('b', 'echo hammering');
    buildFirst(forge);
    removeAll(forge, 'artifacts');
    removeAll(forge, 'cache/logs');
    removeAll(forge, 'cache/state');
    buildAgain(forge, []);
    match(forge.project.run('log', 'b').stdout, /hammering/);
  }),
  scenario(
    24,
    'SIGKILL while a large output is being stored: the output restored later is complete',
    async forge => {
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
    },
    { pace: 'slow' },
  ),
  scenario(26, 'a bit flipped in every file of the store: no wrong byte is delivered', forge => {
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
  scenario(27, 'every state, record and stored plan truncated to half: the next build recovers by itself', forge => {
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
  scenario(29, 'a cache that cannot be written: a warning, correct artifacts, exit code 0', forge => {
    makeFolder(forge, 'cache');
    // A file where a folder is wanted refuses everybody, root too, which a mode does not.
    for (const name of ['cas', 'actions']) forge.project.write(`cache/${name}`, '');
    const built = forge.build();
    strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    match(built.stdout, /cache-write-failed/);
    forge.expectRight();
  }),
  scenario(32, 'an output that is a link to a place outside is refused and not published', forge => {
    forge.setScript('echo b >> $TRACE; ln -s /etc/hostname out.txt');
    const built = forge.build();
    strictEqual(built.exitCode, 1);
    match(built.stdout, /did not write text \("out.txt"\) as a file or folder/);
    strictEqual(forge.project.exists('artifacts/b/text'), false);
  }),
  scenario(45, 'garbage collection during a build: this build and the next are correct', async forge => {
    buildFirst(forge);
    append(forge, 'b.txt', 'more');
    forge.hook('b', 'sleep 0.4');
    const running = forge.start();
    await wait(150);
    const collected = forge.project.run('cache', 'gc', '--max-size', '1B');
    strictEqual(collected.exitCode, 0, collected.stdout);
    strictEqual(await running.ended, 0, running.output());
    forge.expectRight();
    notStrictEqual(forge.project.run('cache', 'verify').exitCode, 1);
    removeAll(forge, 'artifacts');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario(182, 'foreign files next to outputs survive runs, restores, lost caches and clean', forge => {
    buildFirst(forge);
    const notes = ['artifacts/b/notes.txt', 'artifacts/c/runs/1.log'];
    for (const path of notes) forge.project.write(path, 'mine');
    const expectNotes = (when: string): void => {
      for (const path of notes) strictEqual(forge.project.exists(path) && forge.project.read(path), 'mine', `${path} ${when}`);
    };
    match(forge.build().stdout, /warning\[foreign-files\]: b: artifacts\/b holds files that no build wrote: notes.txt; they stay/);
    match(forge.build().stdout, /nothing to do/);
    expectNotes('after a build with nothing to do');
    append(forge, 'b.txt', 'more');
    buildAgain(forge, ['b', 'c']);
    expectNotes('after a run');
    removeAll(forge, 'artifacts/b/text');
    buildAgain(forge, []);
    expectNotes('after a restore');
    removeAll(forge, 'cache');
    append(forge, 'b.txt', 'and more');
    buildAgain(forge, ['a', 'b', 'c', 'lone']);
    expectNotes('after the cache was lost');
    match(forge.project.run('clean', '--all').stdout, /kept artifacts\/b\/notes.txt: no build wrote it/);
    expectNotes('after clean');
    buildAgain(forge, ['a', 'b', 'c', 'lone']);
  }),
  scenario(
    183,
    'a foreign file at the path of an output fails that stage and is kept; after it is moved, the result is restored',
    forge => {
      forge.project.write('artifacts/b/text', 'mine');
      const built = forge.build();
      strictEqual(built.exitCode, 1);
      match(built.stdout, /error\[output-blocked\]: b: .*artifacts\/b\/text is in the place of output "text"/);
      strictEqual(forge.project.read('artifacts/b/text'), 'mine');
      removeAll(forge, 'artifacts/b/text');
      strictEqual(forge.build().exitCode, 0);
      forge.expectRight();
    },
  ),
  scenario(184, 'foreign files in cache/ survive builds, gc, verify and clean --all', forge => {
    buildFirst(forge);
    const files = ['cache/results.sqlite', 'cache/tmp/notes.txt', 'cache/cas/ab/notes.txt'];
    for (const path of files) forge.project.write(path, 'mine');
    append(forge, 'b.txt', 'more');
    match(forge.build().stdout, /warning\[foreign-files\]: no build wrote cache\/results.sqlite, cache\/tmp\/notes.txt/);
    for (const command of [
      ['cache', 'gc'],
      ['cache', 'verify'],
      ['clean', '--all'],
    ]) {
      const ended = forge.project.run(...command);
      strictEqual(ended.exitCode, 0, ended.stdout + ended.stderr);
      match(ended.stdout, /no build wrote it/);
      for (const path of files) strictEqual(forge.project.read(path), 'mine', `${path} after ${command.join(' ')}`);
    }
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario(185, 'a folder that is not a cache is refused, and nothing is written to it', forge => {
    forge.project.write('home/letter.txt', 'mine');
    const built = forge.project.run('build', '--cache', 'home');
    strictEqual(built.exitCode, 2);
    match(built.stdout + built.stderr, /error\[not-a-cache\]/);
    strictEqual(filesBelow(forge, 'home').length, 1);
  }),
];
