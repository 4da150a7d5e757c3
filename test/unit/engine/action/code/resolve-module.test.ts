/** The resolver finds the files that Node finds. Oracle: Node in a separate process. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createResolver, type ModuleFiles } from '../../../../../src/engine/action/code/resolve-module.js';
import { statPath } from '../../../../../src/engine/store/files/stamp.js';

const LINKED_EXPORTS = {
  '.': { require: './main.cjs', import: './main.mjs' },
  './*': './lib/*.js',
  './deep/*/x': './lib/deep-*.js',
  './lib/secret.js': null,
  './list': ['bad', './lib/a.js'],
  './conditions': { browser: './lib/b.js', node: { import: './lib/a.js', default: './main.cjs' } },
};
const APP = {
  name: 'app',
  exports: { './x': './x.js' },
  imports: { '#a': './x.js', '#p/*': './dir/*.js', '#dep': 'linked', '#c': { require: './sub.js', default: './x.js' } },
};

const FILES: Readonly<Record<string, string>> = {
  'app/package.json': JSON.stringify(APP),
  'app/m.mjs': '',
  'app/m.cjs': '',
  'app/x.js': '',
  'app/sub.js': '',
  'app/sub/index.js': '',
  'app/data.json': '{}',
  'app/native.node': '',
  'app/noend': '',
  'app/dir/index.js': '',
  'app/dir/y.js': '',
  'app/main/package.json': '{"main":"lib"}',
  'app/main/lib/index.js': '',
  'app/badmain/package.json': '{"main":"nothing"}',
  'app/badmain/index.js': '',
  'app/node_modules/lone.js': '',
  'app/node_modules/got/package.json': '{"version":"1.0.0"}',
  'app/node_modules/got/index.js': '',
  'packages/linked/package.json': JSON.stringify({ name: 'linked', exports: LINKED_EXPORTS }),
  'packages/linked/main.mjs': '',
  'packages/linked/main.cjs': '',
  'packages/linked/lib/a.js': '',
  'packages/linked/lib/b.js': '',
  'packages/linked/lib/deep-1.js': '',
  'packages/linked/lib/secret.js': '',
  'packages/plain/package.json': '{"main":"main"}',
  'packages/plain/main.js': '',
  'packages/plain/inner/index.js': '',
};

const SPECIFIERS = [
  ...['./x.js', './x', './sub', './sub/', './data', './data.json', './native', './noend', './dir', './dir/y.js', './main', './badmain'],
  ...['.', './', './nothing', '../app/x.js', './x.js?q=1', './%78.js', 'app/x', 'app/y', '#a', '#p/y', '#dep', '#c', '#none', 'lone'],
  ...['lone.js', 'linked', 'linked/a', 'linked/deep/1/x', 'linked/lib/secret.js', 'linked/list', 'linked/conditions', 'linked/none'],
  ...['plain', 'plain/main.js', 'plain/main', 'plain/inner', 'fs', 'node:fs', 'nothing'],
];

const ORACLE = `
import { createRequire } from 'node:module';
import { realpathSync, statSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
const [from, how, specifiers] = JSON.parse(process.argv[1]);
const find = specifier => {
  try {
    const found = how === 'require' ? createRequire(from).resolve(specifier) : import.meta.resolve(specifier, pathToFileURL(from).href);
    if (!found.startsWith('file:') && !found.startsWith('/')) return 'built-in';
    const path = found.startsWith('file:') ? fileURLToPath(found) : found;
    return statSync(path).isFile() ? realpathSync(path) : 'missing';
  } catch { return 'missing'; }
};
console.log(JSON.stringify(specifiers.map(find)));
`;

const files: ModuleFiles = {
  kindOf(path) {
    const kind = statPath(path)?.kind;
    return kind === 'file' || kind === 'folder' ? kind : undefined;
  },
  read: path => readFileSync(path),
  realPath: path => realpathSync(path),
};

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-resolve-')));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of ['linked', 'plain']) symlinkSync(`../../packages/${name}`, join(folder, 'app/node_modules', name));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each(['import', 'require'] as const)('a specifier of %s resolves as in Node', how => {
  const from = join(folder, how === 'import' ? 'app/m.mjs' : 'app/m.cjs');
  const flags = ['--experimental-import-meta-resolve', '--input-type=module', '-e', ORACLE];
  const question = JSON.stringify([from, how, SPECIFIERS]);
  const oracle = JSON.parse(execFileSync(process.execPath, [...flags, question], { encoding: 'utf8' })) as string[];
  const resolver = createResolver(files);
  const ours = SPECIFIERS.map(specifier => {
    const found = resolver.resolve(specifier, from, how);
    return found.kind === 'module' ? found.path : found.kind;
  });

  expect(SPECIFIERS.map((specifier, i) => `${specifier} → ${ours[i]}`)).toEqual(
    SPECIFIERS.map((specifier, i) => `${specifier} → ${oracle[i]}`),
  );
});

it('an installed package counts as a whole', () => {
  const found = createResolver(files).resolve('got/inner', join(folder, 'app/m.mjs'), 'import');
  expect(found).toEqual({ kind: 'installed', package: { name: 'got', folder: join(folder, 'app/node_modules/got') } });
});
