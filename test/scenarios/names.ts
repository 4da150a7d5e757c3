/** Scenarios of names of stages, files and folders, and of what comes back out of the cache. */
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { B, makeFolder, removeAll } from './forge.js';
import { buildAgain, buildFirst, project, type Scenario, scenario } from './scene.js';

/** The two ways to write é are two names where the file system tells them apart, as Linux does. */
const ODD_NAMES = [
  'a b',
  "it's",
  '"quoted"',
  'new\nline',
  '-rf',
  '--',
  '$HOME',
  '`id`',
  'a;b',
  '*',
  'back\\slash',
  '\u00e9',
  'e\u0301',
  '鍛錬',
  '.hidden',
];

const copyAll = (source: string): string => `version: 1
sources: {all: ${JSON.stringify(source)}}
stages:
  copy: {uses: command, with: {run: ["cp -rP -- in out"], shell: sh, inputs: {all: in}, outputs: {all: out}}, inputs: {all: "\${sources.all}"}}
`;

const isLinux = process.platform === 'linux' ? undefined : 'needs a file system that takes any bytes as a name';

export const NAMES: readonly Scenario[] = [
  project(
    47,
    'names with spaces, quotes, newlines, dashes, backslashes and accents go in, come out and come back',
    copyAll('-the "source"'),
    world => {
      for (const name of ODD_NAMES) world.write(`-the "source"/${name}`, `this is ${name}`);
      for (const step of ['run', 'restored']) {
        const built = world.run('build');
        strictEqual(built.exitCode, 0, step + built.stdout + built.stderr);
        strictEqual(built.stdout.includes('warning'), false, built.stdout);
        for (const name of ODD_NAMES) strictEqual(world.read(`artifacts/copy/all/${name}`), `this is ${name}`, step);
        strictEqual(readdirSync(`${world.folder}/artifacts/copy/all`).length, ODD_NAMES.length);
        execFileSync('rm', ['-r', 'artifacts'], { cwd: world.folder });
      }
      match(world.run('build').stdout, /restored/);
      match(world.run('build').stdout, /nothing to do/);
    },
  ),
  project(
    48,
    "stages and ports are called as JavaScript's own are; __proto__ is refused",
    `version: 1
params: {toString: "x"}
sources: {valueOf: in.txt}
stages:
  constructor: {uses: command, with: {run: ["cat in > out; echo \${toString} >> out"], shell: sh, inputs: {toString: in}, outputs: {hasOwnProperty: out}}, inputs: {toString: "\${sources.valueOf}"}}
  each: {foreach: [0, constructor, __proto__], uses: command, with: {run: ["cat in > out; echo \${item} >> out"], shell: sh, inputs: {i: in}, outputs: {o: out}}, inputs: {i: constructor.hasOwnProperty}}
`,
    world => {
      world.write('in.txt', 'iron\n');
      strictEqual(world.run('build').exitCode, 0);
      for (const item of ['0', 'constructor', '__proto__']) strictEqual(world.read(`artifacts/each@${item}/o`), `iron\nx\n${item}\n`);
      match(world.run('build').stdout, /nothing to do/);
      match(world.run('explain', 'constructor').stdout, /up to date/);
      world.write('pipeline.yaml', world.read('pipeline.yaml').replace('  constructor:', '  __proto__:'));
      const refused = world.run('build');
      strictEqual(refused.exitCode, 2);
      match(refused.stderr, /error\[bad-name\]: "__proto__"/);
    },
  ),
  project(
    49,
    'stages or outputs whose names differ by case alone are refused, whatever the file system',
    `version: 1
stages:
  cut: {uses: command, with: {run: [touch, o], outputs: {o: o}}}
  Cut: {uses: command, with: {run: [touch, o], outputs: {o: o}}}
  two: {uses: command, with: {run: [touch, o, p], outputs: {o: o, O: p}}}
  one: {uses: command, with: {run: [touch, o, O], outputs: {o: o, p: O}}}
`,
    world => {
      const refused = world.run('build');
      strictEqual(refused.exitCode, 2);
      match(refused.stderr, /4:3: error\[names-meet\]: the stages "cut" and "Cut" differ by case alone/);
      match(refused.stderr, /stage "two": outputs\.o and outputs\.O differ only in case/);
      match(refused.stderr, /stage "one": outputs\.o and outputs\.p overlap: "o" and "O"/);
      strictEqual(world.exists('artifacts'), false);
    },
  ),
  project(
    50,
    'a file whose name is not UTF-8 is no part of a key unseen: it is named and refused',
    copyAll('source'),
    world => {
      world.write('source/good', 'iron');
      execFileSync('sh', ['-c', "echo steel > source/$(printf 'bad\\377')"], { cwd: world.folder });
      const refused = world.run('build');
      strictEqual(refused.exitCode, 1);
      match(refused.stdout, /error\[unreadable-name\]: copy: a name in .*source is not UTF-8/);
    },
    { obstacle: isLinux },
  ),
  scenario(51, 'an output folder with links, empty folders and modes is restored unchanged', forge => {
    const c =
      'mkdir -p out/empty out/deep; cp in.txt out/deep/file; ln -s deep/file out/link; ln -s deep out/folder; chmod 755 out/deep/file';
    forge.project.write(
      'pipeline.yaml',
      forge.project
        .read('pipeline.yaml')
        .replace('mkdir out; cp in.txt out/copy.txt; wc -l < in.txt > out/lines.txt; chmod 755 out/lines.txt', c),
    );
    const look = (): void => {
      const all = forge.path('artifacts/c/all');
      strictEqual(readdirSync(all).sort().join(), 'deep,empty,folder,link');
      strictEqual(readdirSync(`${all}/empty`).length, 0);
      strictEqual(readlinkSync(`${all}/link`), 'deep/file');
      strictEqual(readlinkSync(`${all}/folder`), 'deep');
      strictEqual(lstatSync(`${all}/deep/file`).mode & 0o777, 0o755);
    };
    strictEqual(forge.build().exitCode, 0);
    look();
    removeAll(forge, 'artifacts');
    deepStrictEqual(forge.build().ran, []);
    // Of them, one was run before.
    look();
    removeAll(forge, 'artifacts/c/all/empty');
    deepStrictEqual(forge.build().ran, []);
    look();
  }),
  scenario(
    52,
    'a source that is a link: the content of its target counts, and a new target is noticed',
    forge => {
      removeAll(forge, 'b.txt');
      removeAll(forge, 'parts');
      forge.project.write('elsewhere/b.txt', 'two\n');
      forge.project.write('elsewhere/parts/1.txt', 'three\n');
      symlinkSync('elsewhere/b.txt', forge.path('b.txt'));
      symlinkSync('elsewhere/parts', forge.path('parts'));
      buildFirst(forge);
      forge.project.write('elsewhere/parts/2.txt', 'four\n');
      buildAgain(forge, ['b', 'c']);
      forge.project.write('elsewhere/c.txt', 'other\n');
      removeAll(forge, 'b.txt');
      symlinkSync('elsewhere/c.txt', forge.path('b.txt'));
      buildAgain(forge, ['b', 'c']);
      removeAll(forge, 'b.txt');
      forge.project.write('b.txt', 'other\n');
      buildAgain(forge, []);
    },
    { pace: 'slow' },
  ),
  scenario(
    53,
    'an empty folder added to a source folder, and an executable bit, are noticed',
    forge => {
      forge.setScript(B.replace('cat a.txt b.txt parts/*', 'cat a.txt b.txt parts/*.txt'));
      buildFirst(forge);
      mkdirSync(forge.path('parts/empty'));
      strictEqual(forge.build().ran.join(), 'b');
      execFileSync('chmod', ['+x', forge.path('parts/1.txt')]);
      strictEqual(forge.build().ran.join(), 'b');
      execFileSync('chmod', ['-x', forge.path('parts/1.txt')]);
      removeAll(forge, 'parts/empty');
      makeFolder(forge, 'other');
      buildAgain(forge, []);
    },
    { pace: 'slow' },
  ),
  project(180, 'a pipeline file whose name would lead out of artifacts/ builds nothing and removes nothing', copyAll('in'), world => {
    world.write('in/one', 'one');
    world.write('src/copy/kept.txt', 'mine');
    for (const name of ['...yaml', '.staging.yaml', '.gitignore.yaml', 'CON.yaml']) {
      world.write(name, copyAll('in').replace('copy:', 'src:'));
      const built = world.run('build', '-f', name);
      strictEqual(built.exitCode, 2, name);
      match(built.stdout + built.stderr, /error\[bad-pipeline-name\]/);
    }
    strictEqual(world.read('src/copy/kept.txt'), 'mine');
    strictEqual(world.exists('artifacts'), false);
  }),
  project(181, 'of two pipeline files with one name neither replaces what the other built', copyAll('in'), world => {
    world.write('in/one', 'one');
    world.write('pipelines/a.yaml', copyAll('in'));
    strictEqual(world.run('build', '-f', 'pipelines/a.yaml').exitCode, 0);
    world.write('pipelines/a.yml', copyAll('in').replaceAll('copy', 'other'));
    const built = world.run('build', '-f', 'pipelines/a.yml');
    strictEqual(built.exitCode, 2);
    match(built.stdout + built.stderr, /error\[name-collision\]: pipelines\/a.yml and pipelines\/a.yaml have the same name/);
    strictEqual(world.read('artifacts/a/copy/all/one'), 'one');
  }),
];
