/** No-op records of projects with plugins of their own: written, and invalid after every change that may reach a declaration. */
import { existsSync, linkSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { type Launcher, makeLauncher } from '../../support/launcher.js';

type Files = Readonly<Record<string, string>>;

/** The default of a param comes from a module that only the declaration needs. `imports` defines `word`. */
function declaration(imports: string, reads: readonly string[] = []): string {
  return `${imports}
export const say = {
  name: 'say', reads: ${JSON.stringify(reads)}, version: 1, description: 'Says a word.', determinism: 'exact', runsModels: 'never',
  params: { type: 'object', additionalProperties: false, properties: { word: { type: 'string', default: word } } },
  inputs: {}, outputs: { text: { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' } },
  run: async ({ params, outputs }) => (await import('node:fs')).writeFileSync(outputs.text, params.word),
};
`;
}

function projectOf(imports: string, files: Files, specifier = './plugins/say.js'): Files {
  return {
    'package.json': '{"type": "module"}',
    'pipeline.yaml': `version: 1\nplugins: {say: "${specifier}"}\nstages: {say: {uses: say}}\n`,
    'plugins/say.js': declaration(imports),
    ...files,
  };
}

const NEW = "export const word = 'new';\n";
const OLD = "export const word = 'old';\n";
/** A project whose plugin can be in one of two folders, with different modules. */
const TWO_FOLDERS = {
  ...projectOf('', {}, './lib/say.js'),
  'a/say.js': declaration("import { word } from './word.js';"),
  'a/word.js': OLD,
  'b/word.js': NEW,
};
const IMPORTED = projectOf("import { word } from './word.js';", { 'plugins/word.js': OLD });
const REQUIRED = projectOf("import { createRequire } from 'node:module';\nconst { word } = createRequire(import.meta.url)('./word');", {
  'plugins/word/package.json': '{}',
  'plugins/word/index.js': "exports.word = 'old';\n",
});
const PACKAGE = { 'node_modules/words/package.json': '{"name": "words", "version": "1.0.0", "type": "module", "main": "index.js"}' };

let launcher: Launcher;
let world: CliWorld;
beforeAll(() => {
  launcher = makeLauncher();
});
afterEach(() => world.remove());
afterAll(() => launcher.remove());

const path = (name: string): string => join(world.folder, name);
const link = (target: string, name: string): void => {
  rmSync(path(name), { force: true });
  symlinkSync(target, path(name));
};

/** A build some time after the files were written: stamps of files that were just written prove nothing. */
async function givenBuilt(files: Files, prepare: () => void): Promise<void> {
  world = givenProject(files);
  prepare();
  await wait(100);
  const { exitCode, stdout, stderr } = world.run('build');
  if (exitCode !== 0) throw new Error(stdout + stderr);
  expect(world.read('artifacts/say/text')).toBe('old');
}

function answer(environment: NodeJS.ProcessEnv = {}): string | undefined {
  return launcher.run(world, ['build'], environment);
}

interface Change {
  readonly what: string;
  readonly files: Files;
  readonly prepare?: () => void;
  readonly change: () => void;
  /** The text of the artifact after the next build; 'refused' if the plugin no longer loads. */
  readonly result: 'new' | 'old' | 'refused';
}

const CHANGES: readonly Change[] = [
  {
    what: "the plugin's module is edited",
    files: IMPORTED,
    change: () => world.write('plugins/say.js', declaration("const word = 'new';")),
    result: 'new',
  },
  {
    what: 'a module that the declaration imports is edited, with size and times kept',
    files: IMPORTED,
    change() {
      const { atime, mtime } = statSync(path('plugins/word.js'));
      writeFileSync(path('plugins/word.js'), NEW);
      utimesSync(path('plugins/word.js'), atime, mtime);
    },
    result: 'new',
  },
  {
    what: 'it is deleted and created again, with size and times kept',
    files: IMPORTED,
    change() {
      const { atime, mtime } = statSync(path('plugins/word.js'));
      rmSync(path('plugins/word.js'));
      writeFileSync(path('plugins/word.js'), NEW);
      utimesSync(path('plugins/word.js'), atime, mtime);
    },
    result: 'new',
  },
  {
    what: 'it is replaced by an older file',
    files: { ...IMPORTED, 'other/word.js': NEW },
    change: () => renameSync(path('other/word.js'), path('plugins/word.js')),
    result: 'new',
  },
  {
    what: 'it is deleted',
    files: IMPORTED,
    change: () => world.unlink('plugins/word.js'),
    result: 'refused',
  },
  {
    what: 'it is a link, and the link leads elsewhere',
    files: { ...IMPORTED, 'a/word.js': OLD, 'b/word.js': NEW },
    prepare: () => link('../a/word.js', 'plugins/word.js'),
    change: () => link('../b/word.js', 'plugins/word.js'),
    result: 'new',
  },
  {
    what: "the plugin's folder is a link, and leads to a folder with a hard link to the same module",
    files: TWO_FOLDERS,
    prepare() {
      linkSync(path('a/say.js'), path('b/say.js'));
      link('a', 'lib');
    },
    change: () => link('b', 'lib'),
    result: 'new',
  },
  {
    what: 'a link in the middle of a chain of links leads elsewhere',
    files: TWO_FOLDERS,
    prepare() {
      linkSync(path('a/say.js'), path('b/say.js'));
      link('a', 'middle');
      link('middle', 'lib');
    },
    change: () => link('b', 'middle'),
    result: 'new',
  },
  {
    what: "the plugin's folder becomes a link to where it was moved, beside other modules",
    files: {
      ...projectOf('', {}, './lib/say.js'),
      'lib/say.js': declaration("import { word } from '../word.js';"),
      'word.js': OLD,
      'moved/word.js': NEW,
    },
    change() {
      renameSync(path('lib'), path('moved/lib'));
      link('moved/lib', 'lib');
    },
    result: 'new',
  },
  {
    what: 'an entry of `imports` in package.json is edited',
    files: {
      ...projectOf("import { word } from '#word';", { 'a.js': OLD, 'b.js': NEW }),
      'package.json': '{"type": "module", "imports": {"#word": "./a.js"}}',
    },
    change: () => world.write('package.json', '{"type": "module", "imports": {"#word": "./b.js"}}'),
    result: 'new',
  },
  {
    what: 'a package.json between the module and the project appears',
    files: {
      ...projectOf("import { word } from '#word';", { 'a.js': OLD, 'plugins/b.js': NEW }),
      'package.json': '{"type": "module", "imports": {"#word": "./a.js"}}',
    },
    change: () => world.write('plugins/package.json', '{"type": "module", "imports": {"#word": "./b.js"}}'),
    result: 'new',
  },
  {
    what: 'a required folder gets a file of its name beside it',
    files: REQUIRED,
    change: () => world.write('plugins/word.json', '{"word": "new"}'),
    result: 'new',
  },
  {
    what: 'the main module of a required folder is another',
    files: { ...REQUIRED, 'plugins/word/b.js': "exports.word = 'new';\n" },
    change: () => world.write('plugins/word/package.json', '{"main": "b.js"}'),
    result: 'new',
  },
  {
    what: 'a package gets another version',
    files: { ...projectOf("import { word } from 'words';", PACKAGE), 'node_modules/words/index.js': OLD },
    change() {
      world.write('node_modules/words/index.js', NEW);
      world.write('node_modules/words/package.json', PACKAGE['node_modules/words/package.json'].replace('1.0.0', '1.0.1'));
    },
    result: 'new',
  },
  {
    what: 'a package of the same name appears nearer',
    files: { ...projectOf("import { word } from 'words';", PACKAGE), 'node_modules/words/index.js': OLD },
    change() {
      world.write('plugins/node_modules/words/package.json', PACKAGE['node_modules/words/package.json']);
      world.write('plugins/node_modules/words/index.js', NEW);
    },
    result: 'new',
  },
  {
    what: 'the plugin is a package, and gets another version',
    files: projectOf(
      '',
      {
        'node_modules/say/package.json': '{"name": "say", "version": "1.0.0", "type": "module", "main": "a.js"}',
        'node_modules/say/a.js': declaration("const word = 'old';"),
        'node_modules/say/b.js': declaration("const word = 'new';"),
      },
      'say',
    ),
    change: () => world.write('node_modules/say/package.json', '{"name": "say", "version": "1.0.1", "type": "module", "main": "b.js"}'),
    result: 'new',
  },
  {
    what: 'the plugin is a package of a workspace, and a module in it is edited',
    files: projectOf(
      '',
      {
        'packages/say/package.json': '{"name": "say", "version": "1.0.0", "type": "module", "main": "a.js"}',
        'packages/say/a.js': declaration("import { word } from './word.js';"),
        'packages/say/word.js': OLD,
        'node_modules/.keep': '',
      },
      'say',
    ),
    prepare: () => link('../packages/say', 'node_modules/say'),
    change: () => world.write('packages/say/word.js', NEW),
    result: 'new',
  },
];

describe('a no-op record of a project with local plugins', () => {
  it.each(CHANGES)('is used, but not after $what', async ({ files, prepare = () => undefined, change, result }) => {
    await givenBuilt(files, prepare);
    expect(answer()).toContain('nothing to do');

    change();

    expect(answer()).toBeUndefined();
    const { exitCode } = world.run('build');
    expect(result === 'refused' ? exitCode : world.read('artifacts/say/text')).toBe(result === 'refused' ? 2 : result);
  });

  it('is not used if options of Node change which modules it loads', async () => {
    const exports = '{"name": "words", "version": "1.0.0", "type": "module", "exports": {"special": "./b.js", "default": "./a.js"}}';
    const modules = { 'node_modules/words/package.json': exports, 'node_modules/words/a.js': OLD, 'node_modules/words/b.js': NEW };
    await givenBuilt(projectOf("import { word } from 'words';", modules), () => undefined);
    expect(answer()).toContain('nothing to do');
    expect(answer({ NODE_OPTIONS: '--conditions=special' })).toBeUndefined();
  });

  it.each<[string, string, Files]>([
    ['a computed import', "const { word } = await import(['./wo', 'rd.js'].join(''));", { 'word.js': OLD }],
    [
      'a computed require',
      "import { createRequire } from 'node:module';\nconst load = createRequire(import.meta.url);\nconst { word } = load(['./wo', 'rd.cjs'].join(''));",
      { 'word.cjs': "exports.word = 'old';\n" },
    ],
  ])('is not written if the declaration uses %s', async (_what, imports, modules) => {
    const files = Object.fromEntries(Object.entries(modules).map(([name, text]) => [`plugins/${name}`, text]));
    await givenBuilt({ ...projectOf('', files), 'plugins/say.js': declaration(imports, Object.keys(modules)) }, () => undefined);
    expect(existsSync(path('cache/state/pipeline.no-op'))).toBe(false);
  });
});
