/** Scenarios of hard input: sizes, names and programs at the limits of the system. */
import { match, ok, strictEqual } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Digest, digestBytes, digestJson } from '../../src/base/digest.js';
import { encodeRecord } from '../../src/engine/store/action-records.js';
import { ARCHIVE_HEADER, encodeEnd, encodeHead } from '../../src/engine/store/archive/archive-format.js';
import { DIST } from '../support/world.js';
import { project, type Scenario } from './scene.js';

const one = (run: string, more = '', beside = ''): string =>
  `version: 1\nstages:\n  a: {uses: command, with: {run: ${run}, outputs: {o: o}${more}}${beside}}\n`;
const touch = '[touch, o]';
const copies = (source: string): string =>
  `version: 1\nsources: {a: ${source}}\nstages:\n  s: {uses: command, with: {run: [cp, i, o], inputs: {i: i}, outputs: {o: o}}, inputs: {i: "\${sources.a}"}}\n`;
const isLinux = process.platform === 'linux' ? undefined : 'knows the limits of Linux alone';

export const HARD: readonly Scenario[] = [
  project(280, 'a timeout of 30 days is one, and 3651 days are refused', one(touch, '', ', timeout: 30d'), world => {
    const built = world.run('build');
    strictEqual(built.exitCode, 0, built.stdout + built.stderr);
    world.write('pipeline.yaml', one(touch, '', ', timeout: 3651d'));
    const refused = world.run('build');
    strictEqual(refused.exitCode, 2);
    match(refused.stderr, /3:\d+: error\[bad-duration\]: "3651d" is not a valid timeout/);
  }),
  project(
    281,
    'an argument or a variable that is longer than the system allows fails with a code and what to do',
    one(`[echo, "${'x'.repeat(200_000)}"]`),
    world => {
      const expectTooLong = (): void => {
        const failed = world.run('build');
        strictEqual(failed.exitCode, 1, failed.stdout + failed.stderr);
        match(failed.stdout, /error\[arguments-too-long\]: a: cannot start "(echo|touch)"/);
        match(failed.stdout, /put long ones into a file/);
      };
      expectTooLong();
      world.write('pipeline.yaml', one(touch, `, env: {LONG: "${'x'.repeat(200_000)}"}`));
      expectTooLong();
      world.write('pipeline.yaml', one(touch, ', env: {"A=B": x}'));
      strictEqual(world.run('build').exitCode, 2);
      world.write('pipeline.yaml', one('[touch, "o\\0"]'));
      strictEqual(world.run('build').exitCode, 2);
    },
    { obstacle: isLinux },
  ),
  project(
    282,
    'a program that writes a line of 100 MB fills its log to the bound and no memory',
    one('["head -c 100000000 /dev/zero | tr \'\\\\0\' x; touch o"]', ', shell: sh'),
    world => {
      const built = world.run('build');
      strictEqual(built.exitCode, 0, built.stdout.slice(0, 2000) + built.stderr);
      const logs = join(world.folder, 'cache/logs');
      const sizes = readdirSync(logs, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => statSync(join(entry.parentPath, entry.name)).size);
      strictEqual(sizes.length, 1);
      ok((sizes[0] ?? 0) < 17_000_000, String(sizes));
    },
    { pace: 'slow' },
  ),
  project(
    283,
    'a program named by a path of the project is the file that the key is made of, and is what runs',
    `version: 1
stages:
  a: {uses: command, with: {run: [tools/gen.sh], outputs: {o: o}}}
`,
    world => {
      const tool = (text: string): void => {
        world.write('tools/gen.sh', `#!/bin/sh\necho ${text} > o\n`);
        chmodSync(join(world.folder, 'tools/gen.sh'), 0o755);
      };
      for (const text of ['iron', 'steel']) {
        tool(text);
        const built = world.run('build');
        strictEqual(built.exitCode, 0, built.stdout + built.stderr);
        match(built.stdout, /1 executed/);
        strictEqual(world.read('artifacts/a/o'), `${text}\n`);
      }
      tool('iron');
      match(world.run('build').stdout, /1 restored/);
      strictEqual(world.read('artifacts/a/o'), 'iron\n');
    },
  ),
  project(
    284,
    'equal actions of one build run once, at any number of jobs',
    `version: 1
stages:
  a: {foreach: [1, 2, 3, 4, 5, 6], uses: command, with: {run: ["echo run >> $TRACE; sleep 0.2; echo same > o"], shell: sh, outputs: {o: o}}, env: [TRACE]}
`,
    world => {
      const trace = join(world.folder, 'trace.txt');
      const built = world.with({ environment: { TRACE: trace } }).run('build', '--jobs', '6');
      strictEqual(built.exitCode, 0, built.stdout + built.stderr);
      strictEqual(world.read('trace.txt'), 'run\n');
      match(built.stdout, /1 executed, 5 restored|5 restored/);
      for (const item of [1, 2, 3, 4, 5, 6]) strictEqual(world.read(`artifacts/a@${item}/o`), 'same\n');
    },
  ),
  project(
    285,
    'after a comment in the pipeline file is edited, the second build says from its record that nothing is to do',
    one(touch),
    async world => {
      const record = join(world.folder, 'cache/state/pipeline.no-op');
      const settle = async (): Promise<void> => {
        for (let tries = 0; tries < 20; tries++) {
          await wait(50);
          match(world.run('build').stdout, /executed|nothing to do/);
        }
      };
      strictEqual(world.run('build').exitCode, 0);
      await settle();
      const before = statSync(record, { bigint: true }).mtimeNs;
      world.write('pipeline.yaml', `${world.read('pipeline.yaml')}# a comment\n`);
      await wait(200);
      match(world.run('build').stdout, /nothing to do/);
      const after = statSync(record, { bigint: true }).mtimeNs;
      ok(after > before, 'the record is written again');
      const untouched = world.listing();
      match(world.run('build').stdout, /nothing to do/);
      strictEqual(world.listing().join('\n'), untouched.join('\n'));
    },
  ),
  project(
    286,
    'errors of a CommonJS plugin are said with their place, and end with 2',
    'version: 1\nplugins: {p: ./p.cjs}\nstages:\n  a: {uses: p}\n',
    world => {
      const cases: readonly (readonly [string, RegExp])[] = [
        ['\n  throw new Error("boom");', /2:14: error\[plugin-load\]: plugin "p" does not load: p\.cjs:2:9: boom/],
        ['module.exports = {\n  oops oops\n};', /does not load: p\.cjs:2: Unexpected identifier/],
        ['module.exports = 42;', /exports no plugin/],
        ['throw { get message() { throw 1; }, toString() { throw 1; } };', /the thrown value has no message/],
        ['process.exit(0);', /error\[ended-early\]/],
        ['require("./nope");', /Cannot find module '\.\/nope'/],
      ];
      for (const [text, message] of cases) {
        world.write('p.cjs', text);
        const { exitCode, stderr } = world.run('build');
        match(stderr, message);
        strictEqual(exitCode, 2, text);
      }
    },
  ),
  project(
    287,
    'a pipe, a folder or a device in the place of the pipeline or params file is refused, and nothing waits for it',
    one(touch),
    world => {
      world.makePipe('pipe.yaml');
      for (const file of ['pipe.yaml', '/dev/zero', '.']) {
        const refused = world.run('build', '-f', file);
        strictEqual(refused.exitCode, 2, refused.stdout + refused.stderr);
        match(refused.stderr, /error\[no-pipeline\]|error\[/);
      }
      const params = world.run('build', '--params-file', 'pipe.yaml');
      strictEqual(params.exitCode, 2);
      match(params.stderr, /error\[no-params-file\]: pipe\.yaml: it is not a regular file/);
    },
  ),
  project(
    288,
    'a plugin that logs 200 MB in one call is told of cut, and its log stays small',
    'version: 1\nplugins: {loud: ./loud.mjs}\nstages:\n  a: {uses: loud}\n',
    world => {
      world.write(
        'loud.mjs',
        `import { writeFile } from 'node:fs/promises';
export const loud = {
  name: 'loud', version: 1, description: 'Logs a lot.', determinism: 'exact', runsModels: 'never',
  params: { type: 'object' }, inputs: {}, outputs: { o: { kind: 'file', description: '', optional: false, entries: undefined, entryKinds: {} } },
  async run({ outputs, context }) {
    context.log('info', 'x'.repeat(200_000_000));
    await writeFile(outputs.o, 'done');
  },
};
`,
      );
      const built = world.run('build');
      strictEqual(built.exitCode, 0, built.stdout.slice(0, 2000) + built.stderr.slice(0, 2000));
      const shown = world.run('log', 'a').stdout;
      match(shown.slice(-200), /cut here: it has 200000000 characters/);
      ok(shown.length < 1_000_000, String(shown.length));
    },
    { pace: 'slow' },
  ),
  project(
    289,
    'a source that has fewer bytes than its size says, as one that gets shorter while it is copied, is read to its end',
    `version: 1
sources: {text: /sys/kernel/fscaps}
stages:
  a: {uses: command, timeout: 20s, with: {run: [cp, in, out], inputs: {in: in}, outputs: {text: out}}, inputs: {in: "\${sources.text}"}}
`,
    async world => {
      const build = world.start('build');
      const ended = await Promise.race([build.ended, wait(30_000, 'hangs', { ref: false })]);
      if (ended === 'hangs') build.signal('SIGKILL');
      strictEqual(ended, 0, build.output());
      strictEqual(world.read('artifacts/a/text'), readFileSync('/sys/kernel/fscaps', 'utf8'));
    },
    { obstacle: isLinux },
  ),
  project(
    290,
    'links that lead to themselves, as sources, in the cache or in the place of artifacts, give a result or a code',
    copies('a'),
    world => {
      const link = (path: string): void => {
        rmSync(join(world.folder, path), { recursive: true, force: true });
        symlinkSync(basename(path), join(world.folder, path));
      };
      const expectCode = (...args: string[]): void => {
        const { exitCode, stdout, stderr } = world.run(...args);
        ok(exitCode !== 70 && exitCode !== null, `${args.join(' ')}: ${stdout}${stderr}`);
        ok(!/\n {4}at /.test(stdout + stderr), `${args.join(' ')}: ${stdout}${stderr}`);
      };
      link('a');
      match(world.run('build').stdout, /error\[input-missing\]: s: source a is a dangling link/);
      world.unlink('a');
      world.write('a', 'text');
      strictEqual(world.run('build').exitCode, 0);
      for (const place of [
        'cache/cas',
        'cache/actions',
        'cache/state',
        'cache/logs',
        'cache/history',
        'cache/plans',
        'cache/lock',
        'cache',
      ]) {
        link(place);
        for (const command of ['build', 'status', 'history', 'log s', 'cache stats', 'cache gc', 'cache verify'])
          expectCode(...command.split(' '));
        world.unlink(place);
        strictEqual(world.run('build', '--force').exitCode, 0);
        strictEqual(world.read('artifacts/s/o'), 'text');
      }
      for (const place of ['artifacts/s/o', 'artifacts/s', 'artifacts']) {
        link(place);
        for (const command of ['status', 'build', 'clean']) expectCode(command);
        rmSync(join(world.folder, place), { recursive: true, force: true });
        strictEqual(world.run('build').exitCode, 0);
        strictEqual(world.read('artifacts/s/o'), 'text');
      }
    },
    { pace: 'slow' },
  ),
  project(
    291,
    'names that no file system takes and halves of characters end with a code before or when they are used',
    'version: 1',
    world => {
      const long = 'n'.repeat(300);
      const refused = (text: string, message: RegExp): void => {
        world.write('pipeline.yaml', text);
        const { exitCode, stdout, stderr } = world.run('build');
        match(stdout + stderr, message);
        ok(exitCode === 1 || exitCode === 2, String(exitCode));
        ok(!/\n {2,4}at /.test(stdout + stderr), stdout + stderr);
      };
      world.write('a', 'text');
      refused(`version: 1\nstages:\n  ${long}: {uses: command, with: {run: [touch, o], outputs: {o: o}}}\n`, /error\[bad-name\]/);
      refused(
        `version: 1\nstages:\n  s: {foreach: [${long}], uses: command, with: {run: [touch, o], outputs: {o: o}}}\n`,
        /error\[bad-name\]/,
      );
      refused(`version: 1\nstages:\n  s: {uses: command, with: {run: [touch, o], outputs: {${long}: o}}}\n`, /error\[plugin-declaration\]/);
      refused(copies(long), /error\[input-unreadable\]/);
      refused(copies('a').replaceAll('i: i', `i: ${long}`), /error\[name-too-long\]/);
      for (const text of ['{run: [echo, "\\ud800"], outputs: {o: o}}', '{run: [touch, o], outputs: {o: o}, env: {"A\\udfff": x}}'])
        refused(`version: 1\nstages:\n  s: {uses: command, with: ${text}}\n`, /error\[yaml-value\]: the text has half of a character/);
    },
  ),
  project(
    292,
    'a limit of 22 open files is told with a code and what to do',
    one(touch),
    world => {
      const bin = join(DIST, 'bin/tanren.js');
      const { status, stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 22; exec "$0" "$@"', process.execPath, bin, 'build'], {
        cwd: world.folder,
        encoding: 'utf8',
      });
      strictEqual(status, 1, stdout + stderr);
      match(stderr, /^error\[system-refused\]: .*too many open files.*\n {2}help: raise the number of files .* \(ulimit -n\)\n$/);
    },
    { obstacle: isLinux },
  ),
  project(
    295,
    'a pipe or a folder in the place of any file of the cache, or of the lock file, blocks no command, and the next build is right',
    copies('a'),
    world => {
      world.write('a', 'text');
      strictEqual(world.run('build').exitCode, 0);
      const filesOf = (): readonly string[] =>
        readdirSync(join(world.folder, 'cache'), { recursive: true, withFileTypes: true })
          .filter(entry => entry.isFile() && entry.name !== '.tanren')
          .map(entry => join(entry.parentPath, entry.name));
      // One of each folder: `state` has several kinds.
      const kinds = new Map(filesOf().map(path => [path.slice(world.folder.length).replace(/[0-9a-f]{2}\/[0-9a-f]{60,}$/, ''), path]));
      for (const path of [...kinds.values(), join(world.folder, 'pipeline.lock')]) {
        for (const put of [() => world.makePipe(relative(world.folder, path)), () => mkdirSync(path)]) {
          if (!existsSync(path)) strictEqual(world.run('build', '--force').exitCode, 0);
          if (!existsSync(path)) continue;
          rmSync(path, { recursive: true });
          put();
          const own = path.includes('/history/') ? ['history'] : path.includes('/logs/') ? ['log s'] : ['status'];
          for (const command of [...own, 'cache verify', 'build']) {
            const { exitCode, stdout, stderr } = world.run(...command.split(' '));
            const codes = command === 'build' && !path.endsWith('.lock') ? [0] : [0, 1, 2];
            ok(codes.includes(exitCode ?? 70), `${command}, ${path}: ${exitCode}\n${stdout}${stderr}`);
            ok(!/internal error|\n {2,4}at /.test(stdout + stderr), `${command}, ${path}:\n${stdout}${stderr}`);
          }
          if (path.endsWith('.lock')) {
            rmSync(path, { recursive: true });
            strictEqual(world.run('build').exitCode, 0);
          }
          strictEqual(world.read('artifacts/s/o'), 'text');
        }
      }
    },
    { pace: 'slow', obstacle: isLinux },
  ),
  project(
    297,
    '30,000 aliases and merges, and a chain of 10,000 stages from its end, are planned; a product of a billion stages is refused: in 1 GB',
    '',
    world => {
      const bounded = world.with({ environment: { NODE_OPTIONS: '--max-old-space-size=900' } });
      const stage = '{uses: command, with: {run: [touch, o], outputs: {o: o}}}';
      const aliases = Array.from({ length: 15_000 }, (_, i) => `  a${i}: *s\n  m${i}: {<<: *s}\n`);
      world.write('pipeline.yaml', `version: 1\nstages:\n  s: &s ${stage}\n${aliases.join('')}`);
      match(bounded.run('status', 'm14999').stdout, /1 of 1 stages is not up to date/);

      const chain = Array.from(
        { length: 10_000 },
        (_, i) => `  s${i}: ${stage.replace('}}}', `}, inputs: {i: i}}, inputs: {i: s${i + 1}.o}}`)}\n`,
      );
      world.write('pipeline.yaml', `version: 1\nstages:\n${chain.join('')}  s10000: ${stage}\n`);
      match(bounded.run('status', 's10000').stdout, /1 of 1 stages is not up to date/);

      const axis = `[${Array.from({ length: 1000 }, (_, i) => i).join(', ')}]`;
      const matrix = `matrix: {a: ${axis}, b: ${axis}, c: ${axis}}`;
      world.write('pipeline.yaml', `version: 1\nstages:\n  s: ${stage.replace('{uses', `{${matrix}, uses`)}\n`);
      const refused = bounded.run('status');
      strictEqual(refused.exitCode, 2);
      match(refused.stderr, /error\[too-many-stages\]/);
    },
    { pace: 'slow' },
  ),
  project(
    298,
    'a record in an archive that cannot be restored is refused at the import, and named; the rest is imported',
    one(touch),
    world => {
      strictEqual(world.run('build').exitCode, 0);
      const key = digestJson({ plugin: 'forged' });
      const output = { kind: 'file', digest: digestBytes('text'), sizeBytes: 4, executable: false } as const;
      const result = { outputs: { o: { ...output, sizeBytes: 5 } }, metrics: undefined, log: undefined, durationMs: 1 };
      const record = encodeRecord({ manifest: { plugin: 'forged' }, results: [result] });
      const frame = (kind: 'blob' | 'record', name: Digest, text: string): string =>
        `${encodeHead({ kind, name, sizeBytes: Buffer.byteLength(text) })}${text}`;
      const frames = [frame('blob', output.digest, 'text'), frame('record', key, record)];
      world.write('forged.tanren', `${ARCHIVE_HEADER}${frames.join('')}${encodeEnd(frames.length)}`);
      const imported = world.run('cache', 'import', 'forged.tanren');
      strictEqual(imported.exitCode, 1);
      match(imported.stdout + imported.stderr, new RegExp(`archive-incomplete[\\s\\S]*${key}|${key}[\\s\\S]*archive-incomplete`));
      strictEqual(world.exists(`cache/actions/${key.slice(0, 2)}/${key}.json`), false);
      match(world.run('build').stdout, /nothing to do/);
    },
  ),
];
