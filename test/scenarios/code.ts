/** Scenarios in which tools and plugin code change: between builds, and while a stage runs. */
import { match, strictEqual } from 'node:assert';
import { chmodSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CliWorld } from '../support/cli-world.js';
import { project, type Scenario, waitForFile } from './scene.js';

const tool = (says: string): string => `#!/bin/sh\necho ${says}\n`;

/** Stage `act` waits for the file `go`, then runs the tool on the PATH. */
const TOOL_PIPELINE = `version: 1
stages:
  act: {uses: command, with: {run: ["echo > $AT/started; until [ -e $AT/go ]; do sleep 0.02; done; mytool > out"], shell: sh, tools: [mytool], outputs: {out: out}, env: {AT: AT_PATH}}}
`;

/** A project with a tool in a folder of the PATH, and the command line in it. */
function withTool(world: CliWorld): Pick<CliWorld, 'run' | 'start'> {
  world.write('pipeline.yaml', TOOL_PIPELINE.replaceAll('AT_PATH', world.folder));
  world.write('bin/mytool', tool('one'));
  chmodSync(`${world.folder}/bin/mytool`, 0o755);
  return world.with({ environment: { PATH: `${world.folder}/bin${delimiter}${process.env.PATH}` } });
}

/** Replaces the tool as installers do: a new file takes its name. */
function installTool(world: CliWorld, says: string, name = 'bin/mytool'): void {
  world.write(`${name}.new`, tool(says));
  chmodSync(`${world.folder}/${name}.new`, 0o755);
  renameSync(`${world.folder}/${name}.new`, `${world.folder}/${name}`);
}

/** Builds, and calls `meanwhile` while stage `act` runs for the first time. @returns what the build said. */
async function buildWhile(world: CliWorld, start: CliWorld['start'], meanwhile: () => void): Promise<string> {
  const build = start('build');
  await waitForFile({ project: world }, 'started');
  meanwhile();
  world.write('go', '');
  strictEqual(await build.ended, 0, build.output());
  return build.output();
}

const edits: readonly (readonly [number, string, (world: CliWorld) => void, string])[] = [
  [
    101,
    'a tool replaced while its stage runs: the run is no result, and one more run takes the new tool',
    world => installTool(world, 'two'),
    'two',
  ],
  [
    102,
    'a tool found earlier on the PATH while its stage runs: the run is no result',
    world => {
      mkdirSync(`${world.folder}/first`);
      installTool(world, 'two', 'first/mytool');
    },
    'two',
  ],
];

/** What the plugins of these scenarios start with: `wait()` tells that the stage runs, and waits for the file `go`. */
const STAGE = `import { existsSync, writeFileSync } from 'node:fs';
const port = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
const stage = { version: 1, description: '', params: { type: 'object' }, inputs: { first: port }, outputs: { out: port }, determinism: 'exact', runsModels: 'never' };
const wait = async () => { writeFileSync('AT_PATH/started', ''); while (!existsSync('AT_PATH/go')) await new Promise(done => setTimeout(done, 10)); };
`;

/** A plugin `late` used by stage `act`, which follows a program that waits for the file `go`. */
function givenPlugin(world: CliWorld, files: Readonly<Record<string, string>>): void {
  world.write('package.json', '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) world.write(`plugins/${name}`, text.replaceAll('AT_PATH', world.folder));
  world.write(
    'pipeline.yaml',
    `version: 1
plugins: {late: ./plugins/plugin.js}
stages:
  early: {uses: command, with: {run: ["echo > $AT/started; until [ -e $AT/go ]; do sleep 0.02; done; echo > out"], shell: sh, outputs: {out: out}, env: {AT: ${world.folder}}}}
  act: {uses: late, inputs: {first: early.out}}
`,
  );
}

/** A helper that exports a number under its own name: CommonJS, or an ES module where it has to be one. */
function textOf(path: string, value: number): string {
  const name = path.includes('/dir/') ? 'dir' : (/(\w+)\.\w+$/.exec(path)?.[1] ?? '');
  return path.endsWith('.cjs') ? `exports.${name} = ${value};` : `export const ${name} = ${value};`;
}

export const CODE: readonly Scenario[] = [
  ...edits.map(([number, title, edit, then]) =>
    project(number, title, '', async world => {
      withTool(world);
      const path = `${world.folder}/first${delimiter}${world.folder}/bin${delimiter}${process.env.PATH}`;
      const { start, run } = world.with({ environment: { PATH: path } });
      match(await buildWhile(world, start, () => edit(world)), /program mytool changed while the stage ran; it runs again/);
      strictEqual(world.read('artifacts/act/out'), `${then}\n`);
      match(run('build').stdout, /nothing to do/);
    }),
  ),
  project(103, 'a link to a tool that leads elsewhere for a while: the run is no result', '', async world => {
    const { start, run } = withTool(world);
    installTool(world, 'two', 'bin/other');
    renameSync(`${world.folder}/bin/mytool`, `${world.folder}/bin/real`);
    symlinkSync('real', `${world.folder}/bin/mytool`);
    const build = start('build');
    await waitForFile({ project: world }, 'started');
    unlinkSync(`${world.folder}/bin/mytool`);
    symlinkSync('other', `${world.folder}/bin/mytool`);
    // The link leads back when the tool has been started, and before the stage ends.
    world.write('bin/other', `#!/bin/sh\necho > ${world.folder}/ran; echo two; until [ -e ${world.folder}/back ]; do sleep 0.02; done\n`);
    world.write('go', '');
    await waitForFile({ project: world }, 'ran');
    unlinkSync(`${world.folder}/bin/mytool`);
    symlinkSync('real', `${world.folder}/bin/mytool`);
    world.write('back', '');
    strictEqual(await build.ended, 0, build.output());
    match(build.output(), /program mytool changed while the stage ran/);
    strictEqual(world.read('artifacts/act/out'), 'one\n');
    match(run('build').stdout, /nothing to do/);
  }),
  project(
    104,
    'plugin code edited while an earlier stage runs: the later stage is of one state of the code, and the next build is right',
    '',
    async world => {
      givenPlugin(world, {
        'plugin.js': `${STAGE}export const late = { ...stage, name: 'late', async run({ outputs }) { const { text } = await import('./heavy.js'); writeFileSync(outputs.out, text); } };`,
        'heavy.js': "export const text = 'one';",
      });
      // The code is known from an earlier build when the build begins.
      world.write('go', '');
      strictEqual(world.run('build').exitCode, 0);
      for (const name of ['go', 'started']) world.unlink(name);
      world.write('pipeline.yaml', world.read('pipeline.yaml').replace('echo > out', 'echo again > out'));
      const build = world.start('build');
      await waitForFile({ project: world }, 'started');
      world.write('plugins/heavy.js', "export const text = 'two';");
      world.write('go', '');
      strictEqual(await build.ended, 0, build.output());
      strictEqual(world.read('artifacts/act/out'), 'two');
      match(world.run('build').stdout, /up to date|nothing to do/);
      world.write('plugins/heavy.js', "export const text = 'one';");
      strictEqual(world.run('build').exitCode, 0);
      strictEqual(world.read('artifacts/act/out'), 'one');
    },
  ),
  project(105, 'plugin code edited while its own stage runs: the run is no result, and one more run takes the edit', '', async world => {
    givenPlugin(world, {
      'plugin.js': `${STAGE}export const late = { ...stage, name: 'late', inputs: {}, async run({ outputs }) { await wait(); const { text } = await import('./heavy.js'); writeFileSync(outputs.out, text); } };`,
      'heavy.js': "export const text = 'one';",
    });
    world.write('pipeline.yaml', 'version: 1\nplugins: {late: ./plugins/plugin.js}\nstages:\n  act: {uses: late}\n');
    match(
      await buildWhile(world, world.start, () => world.write('plugins/heavy.js', "export const text = 'two';")),
      /code plugins\/heavy.js changed while the stage ran; it runs again/,
    );
    strictEqual(world.read('artifacts/act/out'), 'two');
    world.write('plugins/heavy.js', "export const text = 'one';");
    strictEqual(world.run('build').exitCode, 0);
    strictEqual(world.read('artifacts/act/out'), 'one');
  }),
  project(106, "a part's module edited before the part is asked for: what the older code computed stands under no key", '', async world => {
    const part = (says: string): string => `import { writeFileSync } from 'node:fs';
export const part = { name: 'part', version: 1, module: import.meta.url, runsModels: 'never', async run({ folder }) { writeFileSync(folder + '/f', '${says}'); return ['f']; } };`;
    givenPlugin(world, {
      'plugin.js': `${STAGE}import { readFileSync } from 'node:fs'; import { part } from './part.js';
export const late = { ...stage, name: 'late', inputs: {}, async run({ outputs, context }) { await wait(); const { files, from } = await context.memo(part, { manifest: {}, blobs: {} }); writeFileSync(outputs.out, readFileSync(files.f, 'utf8') + ' ' + from); } };`,
      'part.js': part('one'),
    });
    world.write('pipeline.yaml', 'version: 1\nplugins: {late: ./plugins/plugin.js}\nstages:\n  act: {uses: late}\n');
    await buildWhile(world, world.start, () => world.write('plugins/part.js', part('two')));
    strictEqual(world.read('artifacts/act/out'), 'two computed');
    world.write('plugins/plugin.js', `${world.read('plugins/plugin.js')}\n// another stage, the same part`);
    strictEqual(world.run('build').exitCode, 0);
    strictEqual(world.read('artifacts/act/out'), 'two kept');
  }),
  project(
    107,
    'modules that a plugin reaches by require, #imports, createRequire and links: an edit of each runs the stage',
    '',
    world => {
      const helpers = ['plugins/sub.cjs', 'plugins/dir/index.cjs', 'plugins/bare.js', 'lib/inner.js', 'real/help.js', 'plugins/made.js'];
      givenPlugin(world, {
        'plugin.js': `${STAGE}import { createRequire } from 'node:module'; import sub from './all.cjs'; import { inner } from '#inner'; import { help } from '../linked/entry.js';
const made = createRequire(import.meta.url)('./made');
export const late = { ...stage, name: 'late', inputs: {}, async run({ outputs }) { writeFileSync(outputs.out, [sub, inner, help, made.made].join()); } };`,
        'all.cjs': "module.exports = [require('./sub.cjs').sub, require('./dir').dir, require('./bare').bare].join();",
        'dir/package.json': '{ "main": "index.cjs" }',
      });
      world.write('package.json', '{ "type": "module", "imports": { "#inner": "./lib/inner.js" } }');
      for (const [index, path] of helpers.entries()) world.write(path, textOf(path, index));
      world.write('real/entry.js', "export * from './help.js';");
      symlinkSync('real', `${world.folder}/linked`);
      world.write('pipeline.yaml', 'version: 1\nplugins: {late: ./plugins/plugin.js}\nstages:\n  act: {uses: late}\n');
      const first = world.run('build');
      strictEqual(first.exitCode, 0, first.stdout + first.stderr);
      strictEqual(world.read('artifacts/act/out'), '0,1,2,3,4,5');
      for (const [index, path] of helpers.entries()) {
        world.write(path, textOf(path, 9));
        strictEqual(world.run('build').exitCode, 0);
        strictEqual(world.read('artifacts/act/out'), '0,1,2,3,4,5'.replace(`${index}`, '9'), path);
        world.write(path, textOf(path, index));
      }
    },
    { pace: 'slow' },
  ),
  project(
    293,
    'a WebAssembly file and the modules of a thread that a plugin names by new URL are part of its code',
    'version: 1\nplugins: {p: ./p.mjs}\nstages:\n  s: {uses: p}\n',
    world => {
      world.write(
        'p.mjs',
        `import { readFile, writeFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
export const p = {
  name: 'p', version: 1, description: '', determinism: 'exact', runsModels: 'never', params: { type: 'object' }, inputs: {},
  outputs: { o: { kind: 'file', description: '', optional: false, entries: undefined, entryKinds: {} } },
  async run({ outputs }) {
    const { instance } = await WebAssembly.instantiate(await readFile(new URL('./x.wasm', import.meta.url)));
    const said = await new Promise((resolve, reject) =>
      new Worker(new URL('./thread.mjs', import.meta.url)).on('message', resolve).on('error', reject));
    await writeFile(outputs.o, instance.exports.f() + said);
  },
};
`,
      );
      world.write(
        'thread.mjs',
        "import { parentPort } from 'node:worker_threads';\nimport { word } from './word.mjs';\nparentPort.postMessage(word);\n",
      );
      // A module whose only function, f, returns `value`.
      const wasm = (value: number): void => {
        const bytes = [
          0,
          97,
          115,
          109,
          1,
          0,
          0,
          0,
          1,
          5,
          1,
          96,
          0,
          1,
          127,
          3,
          2,
          1,
          0,
          7,
          5,
          1,
          1,
          102,
          0,
          0,
          10,
          6,
          1,
          4,
          0,
          65,
          value,
          11,
        ];
        writeFileSync(join(world.folder, 'x.wasm'), Buffer.from(bytes));
      };
      const expectBuilt = (bytes: string): void => {
        const built = world.run('build');
        match(built.stdout, /1 executed/, built.stdout + built.stderr);
        strictEqual(world.read('artifacts/s/o'), bytes);
      };
      wasm(5);
      world.write('word.mjs', "export const word = 'one';\n");
      expectBuilt('5one');
      wasm(6);
      expectBuilt('6one');
      world.write('word.mjs', "export const word = 'two';\n");
      expectBuilt('6two');
    },
  ),
  project(
    299,
    'a folder of plugins that becomes a link to where it was moved: its modules are those beside the new place',
    'version: 1\nplugins: {say: ./plugins/say.mjs}\nstages:\n  s: {uses: say}\n',
    async world => {
      const port = "{ kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' }";
      const stage = `name: 'say', version: 1, description: '', determinism: 'exact', runsModels: 'never', params: {}, inputs: {}, outputs: { o: ${port} }`;
      const run = "writeFileSync(outputs.o, (await import('../word.mjs')).word)";
      world.write(
        'plugins/say.mjs',
        `import { writeFileSync } from 'node:fs';\nexport const say = { ${stage}, run: async ({ outputs }) => ${run} };\n`,
      );
      world.write('word.mjs', "export const word = 'one';\n");
      world.write('other/word.mjs', "export const word = 'two';\n");
      await wait(100);
      const expectBuilt = (what: RegExp, text: string): void => {
        const built = world.run('build');
        match(built.stdout, what, built.stdout + built.stderr);
        strictEqual(world.read('artifacts/s/o'), text);
      };
      expectBuilt(/1 executed/, 'one');
      renameSync(join(world.folder, 'plugins'), join(world.folder, 'other/plugins'));
      symlinkSync('other/plugins', join(world.folder, 'plugins'));
      expectBuilt(/1 executed/, 'two');
      expectBuilt(/nothing to do/, 'two');
    },
  ),
];
