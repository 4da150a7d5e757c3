/** Scenarios of checkouts that share results by one cache, by archives or by copies. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Forge } from './forge.js';
import { append, removeAll } from './forge.js';
import { buildAgain, buildFirst, filesBelow, type Scenario, scenario, waitForFile } from './scene.js';

/** What git would bring: everything but what builds make. */
function clone(forge: Forge, name: string): string {
  const folder = `${forge.project.folder}-${name}`;
  mkdirSync(folder);
  for (const file of ['pipeline.yaml', 'pipeline.lock', 'a.txt', 'b.txt', 'lone.txt', 'parts'])
    if (forge.project.exists(file)) cpSync(forge.path(file), join(folder, file), { recursive: true });
  return folder;
}

/** Plays with other checkouts of the forge, which are gone afterwards. */
async function withClones(
  forge: Forge,
  names: readonly string[],
  scene: (folders: readonly string[]) => Promise<void> | void,
): Promise<void> {
  const folders = names.map(name => clone(forge, name));
  try {
    await scene(folders);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

function sameArtifacts(forge: Forge, folder: string): void {
  for (const name of ['a/text', 'b/text', 'c/all/copy.txt', 'lone/text'])
    strictEqual(readFileSync(join(folder, 'artifacts', name), 'utf8'), forge.project.read(`artifacts/${name}`), name);
}

export const SHARE: readonly Scenario[] = [
  scenario(80, 'two clones exchange archives: nothing runs twice, also in frozen builds', forge => {
    buildFirst(forge);
    return withClones(forge, ['other'], ([other = '']) => {
      const archive = forge.path('warm.tanren');
      strictEqual(forge.project.run('cache', 'export', archive).exitCode, 0);
      const there = forge.project.with({ folder: other });
      strictEqual(there.run('cache', 'import', archive).exitCode, 0);
      const frozen = there.run('build', '--frozen');
      strictEqual(frozen.exitCode, 0, frozen.stdout + frozen.stderr);
      deepStrictEqual(forge.ran(), []);
      sameArtifacts(forge, other);

      // The other one goes on, and hands back what it has added.
      for (const folder of [other, forge.project.folder]) writeFileSync(join(folder, 'b.txt'), 'two\nand more\n');
      strictEqual(there.run('build').exitCode, 0);
      deepStrictEqual(forge.ran(), ['b', 'c']);
      strictEqual(there.run('cache', 'export', 'added.tanren', '--since', archive).exitCode, 0);
      strictEqual(forge.project.run('cache', 'import', join(other, 'added.tanren')).exitCode, 0);
      buildAgain(forge, []);
      strictEqual(forge.project.run('cache', 'verify').exitCode, 0);
    });
  }),
  scenario(
    81,
    'archives of equal builds are equal, byte for byte',
    forge =>
      withClones(forge, ['other'], ([other = '']) => {
        buildFirst(forge);
        strictEqual(forge.project.run('cache', 'export', 'warm.tanren').exitCode, 0);
        const there = forge.project.with({ folder: other });
        strictEqual(there.run('cache', 'import', forge.path('warm.tanren')).exitCode, 0);
        strictEqual(there.run('build').exitCode, 0);
        strictEqual(there.run('cache', 'export', 'warm.tanren').exitCode, 0);
        ok(readFileSync(join(other, 'warm.tanren')).equals(readFileSync(forge.path('warm.tanren'))));
      }),
    { pace: 'slow' },
  ),
  scenario(
    82,
    'a truncated archive, and one with a flipped bit: an error is reported, no damaged content is imported, and the build is correct',
    forge =>
      withClones(forge, ['other'], ([other = '']) => {
        buildFirst(forge);
        strictEqual(forge.project.run('cache', 'export', 'warm.tanren').exitCode, 0);
        const whole = readFileSync(forge.path('warm.tanren'));
        const there = forge.project.with({ folder: other });
        writeFileSync(join(other, 'cut.tanren'), whole.subarray(0, Math.floor(whole.length / 2)));
        const cut = there.run('cache', 'import', 'cut.tanren');
        strictEqual(cut.exitCode, 1);
        match(cut.stderr, /error\[archive-truncated\]/);
        // The first byte of the first blob: it no longer has its digest.
        const flipped = Buffer.from(whole);
        const at = flipped.indexOf('\n', flipped.indexOf('\nblob ') + 1) + 1;
        flipped[at] = (flipped[at] ?? 0) ^ 1;
        rmSync(join(other, 'cache'), { recursive: true });
        writeFileSync(join(other, 'flipped.tanren'), flipped);
        const damaged = there.run('cache', 'import', 'flipped.tanren');
        strictEqual(damaged.exitCode, 1);
        match(damaged.stderr, /error\[archive-damaged\]/);
        strictEqual(there.run('cache', 'verify').exitCode, 0);
        strictEqual(there.run('build').exitCode, 0);
        sameArtifacts(forge, other);
      }),
    { pace: 'slow' },
  ),
  scenario(83, 'three checkouts with one cache build at once: each stage runs in one of them, and none in a fourth that is frozen', forge =>
    withClones(forge, ['two', 'three'], async others => {
      forge.hook('a', 'sleep 0.3');
      const environment = { TANREN_CACHE: forge.path('../shared-of-three') };
      try {
        const folders = [forge.project.folder, ...others];
        const builds = folders.map(folder => forge.project.with({ folder, environment }).start('build'));
        for (const build of builds) strictEqual(await build.ended, 0, build.output());
        deepStrictEqual(forge.ran(), ['a', 'b', 'c', 'lone']);
        forge.expectRight();
        for (const folder of others) sameArtifacts(forge, folder);

        // A fresh clone, held to the lock: all that it needs is in the shared cache.
        await withClones(forge, ['four'], ([four = '']) => {
          const frozen = forge.project.with({ folder: four, environment }).run('build', '--frozen');
          strictEqual(frozen.exitCode, 0, frozen.stdout + frozen.stderr);
          deepStrictEqual(forge.ran(), []);
          sameArtifacts(forge, four);
        });
      } finally {
        rmSync(environment.TANREN_CACHE, { recursive: true, force: true });
      }
    }),
  ),
  scenario(84, 'the checkout that runs a stage for other checkouts is killed: another checkout runs it', forge =>
    withClones(forge, ['other'], async ([other = '']) => {
      const environment = { TANREN_CACHE: forge.path('../shared-of-two') };
      try {
        forge.hook('a', 'echo > $HOOKS/started; [ -e $HOOKS/go ] || sleep 30');
        const first = forge.project.with({ environment }).start('build', 'a');
        await waitForFile(forge, '.hooks/started');
        const second = forge.project.with({ folder: other, environment }).start('build', 'a');
        await second.waitFor('another checkout runs this action');
        forge.project.write('.hooks/go', '');
        first.signal('SIGKILL');
        await first.ended;
        strictEqual(await second.ended, 0, second.output());
        deepStrictEqual(forge.ran(), ['a', 'a']);
        strictEqual(readFileSync(join(other, 'artifacts/a/text'), 'utf8'), 'one\n');
      } finally {
        rmSync(environment.TANREN_CACHE, { recursive: true, force: true });
      }
    }),
  ),
  scenario(
    85,
    'garbage collection while builds restore from a shared cache: no wrong byte, no failure',
    forge =>
      withClones(forge, ['other'], async ([other = '']) => {
        const environment = { TANREN_CACHE: forge.path('../shared-and-collected') };
        const here = forge.project.with({ environment });
        const there = forge.project.with({ folder: other, environment });
        try {
          strictEqual(here.run('build').exitCode, 0);
          for (let round = 0; round < 3; round++) {
            for (const name of ['artifacts', 'cache']) rmSync(join(other, name), { recursive: true, force: true });
            const both = [there.start('build'), here.start('cache', 'gc', '--max-size', '1B', '--max-age', '1s')];
            for (const one of both) strictEqual(await one.ended, 0, one.output());
            sameArtifacts(forge, other);
          }
          strictEqual(here.run('cache', 'verify').exitCode, 0);
        } finally {
          rmSync(environment.TANREN_CACHE, { recursive: true, force: true });
        }
      }),
    { pace: 'slow' },
  ),
  scenario(86, 'a copied checkout runs nothing, and both continue independently', forge => {
    buildFirst(forge);
    const copy = `${forge.project.folder}-copy`;
    try {
      execFileSync('cp', ['-r', forge.project.folder, copy]);
      const built = forge.project.with({ folder: copy }).run('build');
      strictEqual(built.exitCode, 0, built.stdout + built.stderr);
      deepStrictEqual(forge.ran(), []);
      append(forge, 'b.txt', 'more');
      buildAgain(forge, ['b', 'c']);
      strictEqual(readFileSync(join(copy, 'artifacts/b/text'), 'utf8').includes('more'), false);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }),
  scenario(87, 'a cache shrunk to its minimum keeps the accepted results and the locked results', forge => {
    buildFirst(forge);
    const locked = forge.project.read('pipeline.lock');
    append(forge, 'b.txt', 'more');
    buildAgain(forge, ['b', 'c']);
    forge.project.write('pipeline.lock', locked);
    const blobs = filesBelow(forge, 'cache/cas').length;
    strictEqual(forge.project.run('cache', 'gc', '--max-size', '1B').exitCode, 0);
    strictEqual(filesBelow(forge, 'cache/cas').length, blobs);
    forge.project.write('b.txt', 'two\n');
    buildAgain(forge, []);

    forge.project.write('pipeline.lock', '<<<<<<< ours\n');
    const refused = forge.project.run('cache', 'gc', '--max-size', '1B');
    strictEqual(refused.exitCode, 1);
    match(refused.stderr, /lock-conflict[\s\S]*nothing was removed/);
    removeAll(forge, 'pipeline.lock');
    strictEqual(forge.project.run('cache', 'gc', '--max-size', '1B').exitCode, 0);
    ok(filesBelow(forge, 'cache/cas').length < blobs);
  }),
];
