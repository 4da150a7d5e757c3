/** Scenarios of stages that write to what they read, and of sources that lead to what the build writes. */
import { doesNotMatch, match, strictEqual } from 'node:assert';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CliProcess, CliWorld } from '../support/cli-world.js';
import { project, type Scenario, waitForFile } from './scene.js';

/** `spoil` runs the module spoil.js of the project, which may write to its input; `copy` is the same without it. */
const PIPELINE = `version: 1
sources: {text: text.txt}
plugins: {spoil: ./spoil.mjs, copy: ./copy.mjs}
stages:
  a: {uses: copy, inputs: {text: "\${sources.text}"}}
  b: {uses: spoil, inputs: {text: a.text}}
  c: {uses: copy, inputs: {text: a.text}}
`;

const pluginOf = (name: string, run: string, kind = 'file'): string => `
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
const port = { kind: '${kind}', optional: false, entries: undefined, entryKinds: {}, description: '' };
const read = async path => { ${name === 'copy' ? '' : run} return readFileSync(path, 'utf8'); };
export const plugin = {
  name: '${name}', version: 1, description: '', determinism: 'exact', runsModels: 'never',
  params: { type: 'object' }, inputs: { text: port }, outputs: { text: { ...port, kind: 'file' } },
  async run({ inputs, outputs }) {
    ${name === 'copy' ? run : ''}
    writeFileSync(outputs.text, await read(inputs.text));
  },
};
`;

const LINKED = `version: 1
sources: {text: text.txt, link: sub/link}
stages:
  a: {uses: command, with: {run: [cp, in, out], inputs: {in: in}, outputs: {text: out}}, inputs: {in: "\${sources.text}"}}
  b: {uses: command, with: {run: ['ls in > out'], shell: sh, inputs: {in: in}, outputs: {text: out}}, inputs: {in: "\${sources.link}"}}
`;

const NAMED = `version: 1
sources: {constructor: text.txt}
stages:
  constructor:
    uses: command
    with: {run: [cp, in, out], inputs: {in: in}, outputs: {toString: out}}
    inputs: {in: "\${sources.constructor}"CONNECTED}
  b: {uses: command, with: {run: [cp, in, out], inputs: {in: in}, outputs: {valueOf: out}}, inputs: {in: constructor.toString}}
`;

const TEXT = 'one\ntwo\n';

/** Plays with a plugin `spoil` that does `spoil` to its input \`path\`. */
function spoiling(number: number, title: string, spoil: string, scene: (world: CliWorld) => Promise<void> | void): Scenario {
  return project(number, title, PIPELINE, world => {
    world.write('text.txt', TEXT);
    world.write('spoil.mjs', pluginOf('spoil', spoil));
    world.write('copy.mjs', pluginOf('copy', ''));
    return scene(world);
  });
}

/** Builds: the stage that writes fails, and everything else is right; with the plugin fixed, so is that. */
function expectCaught(world: CliWorld): void {
  for (const attempt of ['first', 'second']) {
    const built = world.run('build', '--keep-going');
    strictEqual(built.exitCode, 1, `${attempt}: ${built.stdout}${built.stderr}`);
    match(built.stdout + built.stderr, /error\[input-written\]: b: the stage writes to its input "text" \(artifact a\.text\)/);
    strictEqual(world.read('artifacts/a/text'), TEXT, attempt);
    strictEqual(world.read('artifacts/c/text'), TEXT, attempt);
    strictEqual(world.exists('artifacts/b/text'), false, attempt);
  }
  world.write('spoil.mjs', pluginOf('spoil', ''));
  const fixed = world.run('build');
  strictEqual(fixed.exitCode, 0, fixed.stdout + fixed.stderr);
  strictEqual(world.read('artifacts/b/text'), TEXT);
  match(world.run('build').stdout, /nothing to do/);
}

async function expectBuilt(build: CliProcess): Promise<void> {
  strictEqual(await build.ended, 0, build.output());
}

export const INPUTS: readonly Scenario[] = [
  spoiling(
    160,
    'a stage that writes to an artifact it reads fails, and the artifact is restored',
    "appendFileSync(path, 'three');",
    expectCaught,
  ),
  spoiling(
    161,
    'so it is where the write keeps the size and sets the time back',
    "const { atime, mtime } = statSync(path); writeFileSync(path, 'eno\\ntwo\\n'); utimesSync(path, atime, mtime);",
    expectCaught,
  ),
  spoiling(
    162,
    'a stage that reads beside it keeps nothing of what it read spoiled',
    "while (!existsSync('PROJECT/c-started')) await wait(5); writeFileSync(path, 'eno\\ntwo\\n'); writeFileSync('PROJECT/spoiled', '');",
    world => {
      const slow = "writeFileSync('PROJECT/c-started', ''); while (!existsSync('PROJECT/spoiled')) await wait(5);";
      world.write('slow.mjs', pluginOf('slow', slow));
      for (const name of ['spoil.mjs', 'slow.mjs']) world.write(name, world.read(name).replaceAll('PROJECT', world.folder));
      world.write(
        'pipeline.yaml',
        PIPELINE.replace('c: {uses: copy', 'c: {uses: slow').replace('copy: ./copy.mjs}', 'copy: ./copy.mjs, slow: ./slow.mjs}'),
      );
      const built = world.run('build', '--keep-going', '-j', '4');
      strictEqual(built.exitCode, 1, built.stdout + built.stderr);
      match(built.stdout + built.stderr, /error\[input-written\]: b:/);
      match(built.stdout + built.stderr, /warning\[input-changed\]: c: artifact a\.text was written to/);
      strictEqual(world.read('artifacts/a/text'), TEXT);
      strictEqual(world.read('artifacts/c/text'), TEXT);
      const blobs = readdirSync(join(world.folder, 'cache/cas'), { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
      for (const { parentPath, name } of blobs) doesNotMatch(readFileSync(join(parentPath, name), 'utf8'), /eno/);
    },
  ),
  project(
    163,
    'a stage that writes into a folder it reads fails, and the folder is restored',
    `version: 1
plugins: {spoil: ./spoil.mjs}
stages:
  a: {uses: command, with: {run: ['mkdir out out/empty; echo one > out/1'], shell: sh, outputs: {parts: {path: out, kind: folder}}}}
  b: {uses: spoil, inputs: {text: a.parts}}
`,
    world => {
      world.write('spoil.mjs', pluginOf('spoil', "writeFileSync(path + '/2', 'two'); path += '/1';", 'folder'));
      const built = world.run('build');
      strictEqual(built.exitCode, 1, built.stdout + built.stderr);
      match(built.stdout + built.stderr, /error\[input-written\]: b:/);
      strictEqual(world.exists('artifacts/a/parts/2'), false);
      strictEqual(world.exists('artifacts/a/parts/empty'), true);
    },
  ),
  spoiling(
    164,
    'an artifact that a person edits while a stage reads it is restored, and the stage runs again',
    "writeFileSync('PROJECT/reading', ''); while (!existsSync('PROJECT/go')) await wait(5);",
    async world => {
      world.write('spoil.mjs', world.read('spoil.mjs').replaceAll('PROJECT', world.folder));
      const build = world.start('build');
      await waitForFile({ project: world }, 'reading');
      world.write('artifacts/a/text', 'forged\n');
      world.write('go', '');
      await expectBuilt(build);
      match(build.output(), /input-changed|was written to while the stage ran/);
      for (const stage of ['a', 'b', 'c']) strictEqual(world.read(`artifacts/${stage}/text`), TEXT);
    },
  ),
  spoiling(
    165,
    'where the cache has lost the artifact, its stage runs again in the next build',
    "appendFileSync(path, 'three'); rmSync('PROJECT/cache/cas', { recursive: true, force: true });",
    world => {
      world.write('spoil.mjs', world.read('spoil.mjs').replaceAll('PROJECT', world.folder));
      const built = world.run('build', 'b');
      strictEqual(built.exitCode, 1, built.stdout + built.stderr);
      match(built.stdout + built.stderr, /error\[input-written\]: b: artifact a\.text was written to .* has no complete copy of it/);
      world.write('spoil.mjs', pluginOf('spoil', ''));
      const fixed = world.run('build');
      strictEqual(fixed.exitCode, 0, fixed.stdout + fixed.stderr);
      for (const stage of ['a', 'b', 'c']) strictEqual(world.read(`artifacts/${stage}/text`), TEXT);
    },
  ),
  project(
    166,
    'a stage that writes to a source fails, and the source is left as it is',
    `version: 1
sources: {text: text.txt}
plugins: {spoil: ./spoil.mjs}
stages:
  b: {uses: spoil, inputs: {text: "\${sources.text}"}}
`,
    world => {
      world.write('text.txt', TEXT);
      world.write('spoil.mjs', pluginOf('spoil', "appendFileSync(path, 'x');"));
      const built = world.run('build');
      strictEqual(built.exitCode, 1, built.stdout + built.stderr);
      match(built.stdout + built.stderr, /error\[input-changed\]/);
      strictEqual(world.exists('artifacts/b'), false);
    },
  ),
  project(
    167,
    'a source that links to an artifact, to the cache, or to a folder of either is refused before anything runs',
    LINKED,
    world => {
      const linked = ['artifacts/a/text', 'artifacts/a', '../artifacts/a', 'cache', '.', 'chain'];
      world.write('text.txt', TEXT);
      mkdirSync(join(world.folder, 'sub'));
      symlinkSync('../artifacts/a/text', join(world.folder, 'sub/chain'));
      symlinkSync('sub/chain', join(world.folder, 'chain'));
      for (const target of linked) {
        rmSync(join(world.folder, 'sub/link'), { force: true });
        symlinkSync(target.startsWith('..') ? target : `../${target}`, join(world.folder, 'sub/link'));
        const built = world.run('build');
        strictEqual(built.exitCode, 2, `${target}: ${built.stdout}${built.stderr}`);
        match(built.stdout + built.stderr, /error\[source-is-written\]: source "link" (is|holds) .* leads to /, target);
      }
      strictEqual(world.exists('artifacts/a'), false);
    },
  ),
  project(168, 'a link that is turned to an artifact later, or stands in a folder, fails its stage', LINKED, world => {
    world.write('text.txt', TEXT);
    mkdirSync(join(world.folder, 'sub/link'), { recursive: true });
    world.write('sub/link/plain', 'plain');
    const first = world.run('build');
    strictEqual(first.exitCode, 0, first.stdout + first.stderr);
    symlinkSync('../../artifacts/a/text', join(world.folder, 'sub/link/inner'));
    for (const target of ['../../artifacts/a/text', '../../artifacts/a', '../../cache/state']) {
      rmSync(join(world.folder, 'sub/link/inner'));
      symlinkSync(target, join(world.folder, 'sub/link/inner'));
      const built = world.run('build');
      strictEqual(built.exitCode, 1, `${target}: ${built.stdout}${built.stderr}`);
      match(built.stdout + built.stderr, /error\[source-is-written\]: b: source sub\/link\/inner.* leads to /, target);
    }
    rmSync(join(world.folder, 'sub/link'), { recursive: true });
    symlinkSync('../text.txt', join(world.folder, 'sub/link'));
    strictEqual(world.run('build').exitCode, 0);
    rmSync(join(world.folder, 'sub/link'));
    symlinkSync('../artifacts/a/text', join(world.folder, 'sub/link'));
    const turned = world.run('build');
    match(`${turned.exitCode}`, /^[12]$/);
    match(turned.stdout + turned.stderr, /error\[source-is-written\]/);
  }),
  project(
    169,
    'a project behind a link, with artifacts/ and cache/ behind links, builds; the same sources are refused there',
    LINKED,
    world => {
      world.write('text.txt', TEXT);
      world.write('disk/images/1', 'one');
      world.write('sub/plain.txt', 'plain');
      symlinkSync('plain.txt', join(world.folder, 'sub/link'));
      mkdirSync(join(world.folder, 'disk/cache'));
      symlinkSync('disk', join(world.folder, 'artifacts'));
      symlinkSync('disk/cache', join(world.folder, 'cache'));
      const behind = join(world.folder, 'behind');
      symlinkSync(world.folder, behind);
      const first = world.with({ folder: behind }).run('build');
      strictEqual(first.exitCode, 0, first.stdout + first.stderr);
      strictEqual(world.read('disk/a/text'), TEXT);
      for (const [target, expected] of [
        ['../disk/images', 0],
        ['../disk/a/text', 2],
        ['../behind/disk/a', 2],
        ['../disk/cache/state', 2],
        ['../disk', 2],
      ] as const) {
        rmSync(join(world.folder, 'sub/link'));
        symlinkSync(target, join(world.folder, 'sub/link'));
        world.write('pipeline.yaml', `${LINKED}# ${target}\n`);
        const built = world.with({ folder: behind }).run('build');
        strictEqual(built.exitCode, expected, `${target}: ${built.stdout}${built.stderr}`);
      }
    },
  ),
  project(170, 'a source that leads into a shared cache fails its stage; one beside that cache does not', LINKED, world => {
    world.write('text.txt', TEXT);
    world.write('sub/link', 'plain');
    // A cache, with the project in it.
    world.write('.tanren', 'tanren-cache 1\n');
    const shared = world.with({ environment: { TANREN_CACHE: world.folder } });
    strictEqual(shared.run('build').exitCode, 0);
    rmSync(join(world.folder, 'sub/link'));
    symlinkSync('../cas', join(world.folder, 'sub/link'));
    const built = shared.run('build');
    strictEqual(built.exitCode, 1, built.stdout + built.stderr);
    match(built.stdout + built.stderr, /error\[source-is-written\]: b:/);
  }),
  project(177, 'ports, stages and sources named like members of every object are names like others', NAMED, world => {
    world.write('text.txt', TEXT);
    for (const inputs of ['{in: in}', '{in: in, constructor: c}']) {
      const connected = inputs.includes('c}') ? ', constructor: "${sources.constructor}"' : '';
      world.write('pipeline.yaml', NAMED.replace('{in: in}', inputs).replace('CONNECTED', connected));
      const built = world.run('build');
      strictEqual(built.exitCode, 0, built.stdout + built.stderr);
      strictEqual(world.read('artifacts/b/valueOf'), TEXT);
    }
    world.write('pipeline.yaml', NAMED.replace('CONNECTED', '').replace('constructor.toString', 'constructor.hasOwnProperty'));
    const unknown = world.run('build');
    strictEqual(unknown.exitCode, 2, unknown.stdout + unknown.stderr);
    match(unknown.stdout + unknown.stderr, /error\[unknown-port\]/);
  }),
  ...(
    [
      [178, 'link'],
      [179, 'folder/link'],
      [187, 'folder/inner/link'],
    ] as const
  ).map(([number, link]) =>
    project(
      number,
      `a link that leads elsewhere while a stage reads what is behind it, and back before it ends: the run is no result (${link})`,
      `version: 1
sources: {text: ${link.replace(/\/.*/, '')}}
plugins: {spoil: ./spoil.mjs}
stages:
  b: {uses: spoil, inputs: {text: "\${sources.text}"}}
`,
      world => {
        // 'folder/inner' is itself a link to a folder of a file.
        const isFolder = link === 'folder/inner/link';
        const turned = join(world.folder, isFolder ? 'folder/inner' : link);
        world.write('one/link', 'one');
        world.write('two/link', 'two');
        mkdirSync(join(world.folder, 'folder'));
        const targetOf = (name: string): string => join(world.folder, name, isFolder ? '' : 'link');
        symlinkSync(targetOf('one'), turned);
        const inner = link.replace(/^[^/]*/, '');
        const turn = (name: string): string => `rmSync('${turned}'); symlinkSync('${targetOf(name)}', '${turned}');`;
        world.write(
          'spoil.mjs',
          pluginOf(
            'spoil',
            `const { symlinkSync } = await import('node:fs');
if (existsSync('${world.folder}/turned')) return readFileSync(path + '${inner}', 'utf8');
writeFileSync('${world.folder}/turned', '');
${turn('two')} const text = readFileSync(path + '${inner}', 'utf8'); ${turn('one')} return text;`,
            'any',
          ),
        );
        const built = world.run('build');
        strictEqual(built.exitCode, 0, built.stdout + built.stderr);
        match(built.stdout + built.stderr, /warning\[input-changed\]: b: source \w+ changed while the stage ran; it runs again/);
        strictEqual(world.read('artifacts/b/text'), 'one');
        match(world.run('build').stdout, /nothing to do/);
      },
    ),
  ),
];
