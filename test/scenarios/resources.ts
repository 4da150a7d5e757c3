/** Scenarios of a machine that lacks what a build needs: space, rights, handles, memory, a terminal, or a cache of its own version. */
import { match, ok, strictEqual } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { digestBytes } from '../../src/base/digest.js';
import type { CliWorld } from '../support/cli-world.js';
import { DIST } from '../support/world.js';
import { append, makeFolder } from './forge.js';
import { buildFirst, expectGone, filesBelow, project, type Scenario, scenario, waitForFile } from './scene.js';

const canMount =
  process.platform === 'linux' && spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
    ? undefined
    : 'needs the right to mount a file system in a namespace of its own (unshare -rm)';
/** Root may do all, so that modes show nothing: its tests are played as nobody. */
const AS_NOBODY = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
const [first = '', ...others] = [...AS_NOBODY, process.execPath, join(DIST, 'bin/tanren.js'), '--version'];
const canBeNobody =
  process.platform !== 'win32' && spawnSync(first, others).status === 0 ? undefined : 'needs a user whose rights are limited (setpriv)';
const hasShell = process.platform === 'win32' ? 'needs a POSIX shell' : undefined;

/** Runs a script of sh in the project, in which `tanren` is this one. Its first failing command ends it. */
function runScript(
  { folder }: Pick<CliWorld, 'folder'>,
  script: string,
  wrap: readonly string[] = [],
): { readonly output: string; readonly status: number | null } {
  const tanren = `tanren() { "${process.execPath}" "${DIST}/bin/tanren.js" "$@"; }`;
  const [program = 'sh', ...args] = [...wrap, 'sh', '-ec', `${tanren}\n${script}`];
  const env = { ...process.env, NO_COLOR: '1', TEMPER: 'hard' };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: 300_000 });
  return { output: stdout + stderr, status };
}

/** A pipeline of `count` programs that would all run at once, each for two seconds. */
function parallelPrograms(count: number): string {
  const stages = Array.from(
    { length: count },
    (_, i) => `  s${i}: {uses: command, with: {run: ["sleep 2; echo ${i} > out"], shell: sh, outputs: {o: out}}}`,
  );
  return `version: 1\nstages:\n${stages.join('\n')}\n`;
}

const inNamespace = ['unshare', '-rm'];

export const RESOURCES: readonly Scenario[] = [
  scenario(
    28,
    'a cache on a full disk: the stage that does not fit fails with disk-full, no partial file is left, and the build succeeds when space is free',
    forge => {
      makeFolder(forge, 'cache');
      const { output, status } = runScript(
        forge.project,
        `mount -t tmpfs -o size=20m tmpfs cache
        cp b.txt b.small; head -c 30000000 /dev/zero > b.txt
        if tanren build --keep-going; then exit 9; else echo "ended with $?"; fi
        find cache/tmp cache/cas -name '*.tmp' -o -path 'cache/tmp/*' | sed 's/^/unfinished /'
        cp b.small b.txt; rm b.small
        tanren build; tanren build; tanren cache verify`,
        inNamespace,
      );
      strictEqual(status, 0, output);
      strictEqual(output.split('error[disk-full]').length - 1, 1, output);
      match(output, /ended with 1/);
      ok(!output.includes('unfinished '), output);
      match(output, /nothing to do: 4 stages/);
      forge.expectRight();
      strictEqual(forge.ran().filter(stage => stage === 'lone').length, 1, output);
    },
    { obstacle: canMount },
  ),
  scenario(
    54,
    'artifacts on a full disk: the stage fails with not-published, the old artifacts stay, and the result is restored when space is free',
    forge => {
      buildFirst(forge);
      // Both b and c publish the 3 MB of b.txt: b first, as c needs its result. There is room for one of them, with 2 MB to spare.
      const { output, status } = runScript(
        forge.project,
        `cp -a artifacts kept; mount -t tmpfs -o size=5m tmpfs artifacts; cp -a kept/. artifacts; rm -r kept
        head -c 3000000 /dev/zero | tr '\\0' '\\n' > b.txt
        if tanren build; then exit 9; else echo "ended with $?"; fi
        grep -q two artifacts/c/all/copy.txt; test ! -e artifacts/.staging || test -z "$(ls artifacts/.staging)"
        mount -o remount,size=20m artifacts
        tanren build; cp -a artifacts kept; umount artifacts; rm -r artifacts; mv kept artifacts`,
        inNamespace,
      );
      strictEqual(status, 0, output);
      match(output, /b +executed/);
      match(output, /error\[not-published\]: c: /);
      match(output, /ended with 1/);
      match(output, /c +restored/);
      forge.expectRight();
    },
    { pace: 'slow', obstacle: canMount },
  ),
  scenario(
    55,
    'a read-only cache: known results are restored, other stages run, and one warning is printed',
    forge => {
      buildFirst(forge);
      append(forge, 'b.txt', 'more');
      const { output, status } = runScript(
        forge.project,
        `mount --bind cache cache; mount -o remount,bind,ro cache
        rm -r artifacts/lone; tanren build; tanren status > status.txt || true`,
        inNamespace,
      );
      strictEqual(status, 0, output);
      match(output, /lone +restored/);
      ok(output.split('warning[cache-write-failed]').length - 1 <= 3, output);
      forge.expectRight();
      strictEqual(forge.ran().join(), 'b,c');
    },
    { obstacle: canMount },
  ),
  project(
    77,
    'a program that leaves read-only folders and unreadable files: its outputs are kept, published and restored, and its folder goes',
    `version: 1
stages:
  sealed: {uses: command, with: {run: ["mkdir -p out/ro/deep scrap/ro; echo iron > out/ro/deep/x; echo steel > scrap/ro/y; chmod 000 out/ro/deep/x; chmod 555 out/ro/deep out/ro out scrap/ro"], shell: sh, outputs: {all: out}}}
  file: {uses: command, with: {run: ["cp in/ro/deep/x out; chmod 000 out"], shell: sh, inputs: {all: in}, outputs: {o: out}}, inputs: {all: sealed.all}}
`,
    world => {
      chmodSync(world.folder, 0o777);
      const build = (): string => {
        const [program = '', ...args] = [...AS_NOBODY, process.execPath, join(DIST, 'bin/tanren.js'), 'build'];
        // Of the folders on the PATH, one may not be looked into.
        const env = { ...process.env, PATH: `/root/closed:${process.env.PATH}`, NO_COLOR: '1' };
        const { status, stdout, stderr } = spawnSync(program, args, { cwd: world.folder, env, encoding: 'utf8', timeout: 300_000 });
        strictEqual(status, 0, stdout + stderr);
        ok(!stdout.includes('warning'), stdout);
        strictEqual(readdirSync(`${world.folder}/cache/tmp`).length, 0);
        strictEqual(world.read('artifacts/file/o'), 'iron\n');
        return stdout;
      };
      match(build(), /2 executed/);
      rmSync(`${world.folder}/artifacts`, { recursive: true });
      match(build(), /2 restored/);
      match(build(), /nothing to do/);
      // Somebody means to protect what was built.
      spawnSync('chmod', ['-R', 'a-w', 'artifacts/sealed', 'artifacts/file'], { cwd: world.folder });
      world.write('pipeline.yaml', world.read('pipeline.yaml').replace('> scrap/ro/y', '> scrap/ro/y; echo new > out/new'));
      match(build(), /2 executed/);
      strictEqual(world.read('artifacts/sealed/all/new'), 'new\n');
    },
    { obstacle: canBeNobody },
  ),
  scenario(
    56,
    'no folder for temporary files: the build succeeds',
    forge => {
      const built = runScript(forge.project, 'TMPDIR=/nowhere tanren build');
      strictEqual(built.status, 0, built.output);
      ok(!built.output.includes('warning'), built.output);
      forge.expectRight();
    },
    { obstacle: hasShell },
  ),
  project(
    57,
    'no file handles left: stages that cannot be started fail with system-limit, no other stage fails, and the next build runs those alone',
    parallelPrograms(40),
    world => {
      // Node itself takes some thirty handles to load its modules, and each program that runs two.
      const { output, status } = runScript(world, 'ulimit -n 64; tanren build --jobs 40');
      strictEqual(status, 1, output);
      const failed = output.split('error[system-limit]').length - 1;
      ok(failed > 0 && failed < 40, output);
      strictEqual(output.split('error[').length - 1, failed, output);
      match(output, new RegExp(`${40 - failed} executed, ${failed} failed`));
      const next = world.run('build', '--jobs', '40');
      strictEqual(next.exitCode, 0, next.stdout);
      match(next.stdout, new RegExp(`${failed} executed`));
      for (let i = 0; i < 40; i++) strictEqual(world.read(`artifacts/s${i}/o`), `${i}\n`);
    },
    { obstacle: hasShell },
  ),
  scenario(58, 'a killed or crashed program fails its stage with a specific error code', forge => {
    for (const [signal, how] of [
      ['KILL', /b: sh ended with signal SIGKILL[\s\S]*help: the system probably ran out of memory/],
      ['SEGV', /b: sh ended with signal SIGSEGV/],
    ] as const) {
      forge.hook('b', `kill -${signal} $$`);
      const failed = forge.build('--keep-going');
      strictEqual(failed.exitCode, 1);
      match(failed.stdout, how);
      forge.ran();
    }
    forge.hook('b', '');
    strictEqual(forge.build().exitCode, 0);
    forge.expectRight();
  }),
  scenario(
    59,
    'a closed terminal and SIGTERM: exit codes 129 and 143, no process is left, and the next build is correct',
    async forge => {
      for (const [signal, code] of [
        ['SIGHUP', 129],
        ['SIGTERM', 143],
      ] as const) {
        forge.hook('b', 'echo $$ > $HOOKS/pid; echo > $HOOKS/started; sleep 30');
        const running = forge.start();
        await waitForFile(forge, '.hooks/started');
        // A terminal that is closed takes no output either.
        running.closeOutput();
        running.signal(signal);
        strictEqual(await running.ended, code, signal);
        await expectGone(Number(forge.project.read('.hooks/pid')));
        forge.project.unlink('.hooks/started');
      }
      forge.hook('b', '');
      strictEqual(forge.build().exitCode, 0);
      forge.expectRight();
    },
    { obstacle: hasShell },
  ),
  scenario(
    70,
    'output without a reader stops nothing; output lost on a full disk is an error after the work',
    async forge => {
      const unheard = forge.start();
      unheard.closeOutput();
      strictEqual(await unheard.ended, 0);
      forge.expectRight();
      append(forge, 'b.txt', 'more');
      const { output, status } = runScript(forge.project, 'tanren build > /dev/full');
      strictEqual(status, 1, output);
      match(output, /^error\[output-not-written\]/);
      forge.expectRight();
    },
    { pace: 'slow', obstacle: process.platform === 'linux' ? undefined : 'needs /dev/full' },
  ),
  scenario(71, 'a cache of a newer version: it is ignored with a warning, everything is built, and its files cause no conflict', forge => {
    buildFirst(forge);
    const state = forge.path('cache/state/pipeline.log');
    writeFileSync(state, readFileSync(state, 'utf8').replace(/^tanren-state \d+/, 'tanren-state 999'));
    for (const path of filesBelow(forge, 'cache/actions')) {
      const body = (readFileSync(path, 'utf8').split('\n')[1] ?? '').replace(/"format":\d+/, '"format":999');
      writeFileSync(path, `${digestBytes(body)}\n${body}\n`);
    }
    const built = forge.build();
    strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    strictEqual(built.stdout.split('warning[').length - 1, 1 + 4, built.stdout);
    forge.expectRight();
    match(forge.build().stdout, /nothing to do/);
  }),
  scenario(
    72,
    'the project folder is deleted while a stage runs: the build ends by itself with an error code',
    async forge => {
      forge.hook('b', 'echo > $HOOKS/started; sleep 0.5');
      const running = forge.start();
      await waitForFile(forge, '.hooks/started');
      spawnSync('rm', ['-rf', forge.path('artifacts'), forge.path('cache')]);
      const code = await running.ended;
      ok(code === 0 || code === 1, `it ended with ${code}:\n${running.output()}`);
      ok(!running.output().includes('internal'), running.output());
      await wait(50);
      forge.hook('b', '');
      strictEqual(forge.build().exitCode, 0);
      forge.expectRight();
    },
    { pace: 'slow' },
  ),
  project(
    186,
    'what root has built, another user may not replace: the build says who owns it, and commands that read go on',
    `version: 1
sources: {text: in.txt}
stages:
  copy: {uses: command, with: {run: ["cp in.txt out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: "\${sources.text}"}}
`,
    world => {
      world.write('in.txt', 'one');
      strictEqual(world.run('build').exitCode, 0);
      chmodSync(world.folder, 0o755);
      const [program = '', ...before] = [...AS_NOBODY, process.execPath, join(DIST, 'bin/tanren.js')];
      const asNobody = (...args: readonly string[]): { readonly status: number | null; readonly said: string } => {
        const { status, stdout, stderr } = spawnSync(program, [...before, ...args], { cwd: world.folder, encoding: 'utf8' });
        return { status, said: stdout + stderr };
      };
      world.write('in.txt', 'two');
      const built = asNobody('build');
      strictEqual(built.status, 1);
      match(built.said, /artifacts belongs to root \(uid 0\), and this runs as nobody \(uid 65534\).*chown -R 65534/);
      for (const command of [
        ['status'],
        ['explain', 'copy'],
        ['build', '--dry-run'],
        ['graph'],
        ['history'],
        ['log', 'copy'],
        ['cache', 'stats'],
      ]) {
        const { status, said } = asNobody(...command);
        ok(status === 0 || status === 1, `${command.join(' ')}: ${status} ${said}`);
        strictEqual(said.includes('internal error'), false, said);
      }
    },
    { obstacle: process.getuid?.() === 0 ? canBeNobody : 'needs root, who builds first' },
  ),
];
