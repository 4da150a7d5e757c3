/** A worker refuses modules that no key covers, in every way in which Node loads one: tested through the command line. */
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CliWorld, givenProject } from '../support/cli-world.js';

const PIPELINE = 'version: 1\nplugins: {late: ./plugins/plugin.js}\nstages:\n  act: {uses: late}\n';

const START = `import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
const inThread = thread => new Promise((resolve, reject) => thread.on('message', resolve).on('error', reject).on('exit', () => resolve({ text: 'none' })));
const stage = { name: 'late', version: 1, description: '', params: { type: 'object' }, inputs: {}, outputs: { out: { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' } }, determinism: 'exact', runsModels: 'never' };
const name = ['.', 'secret'].join('/');
`;

/** A plugin that loads \`secret\` by a name that cannot be read from it. */
const plugin = (load: string, more = ''): string =>
  `${START}export const late = { ...stage, ${more} async run({ outputs }) { const { text } = ${load}; writeFileSync(outputs.out, text); } };`;

let world: CliWorld;
beforeEach(() => {
  world = givenProject({
    'package.json': '{ "type": "module" }',
    'pipeline.yaml': PIPELINE,
    'plugins/secret.js': "export const text = 'one';",
    'plugins/thread.js':
      "import { parentPort, workerData } from 'node:worker_threads'; const { text } = await import(workerData); parentPort.postMessage({ text });",
    'plugins/secret.cjs': "exports.text = 'one';",
    'plugins/secret.json': '{ "text": "one" }',
    'plugins/lazy.txt': "module.exports = () => import('./secret.js');",
    'plugins/load.cjs': 'exports.load = name => require(name);',
    'node_modules/other/package.json': '{ "name": "other", "version": "1.0.0", "main": "index.cjs" }',
    'node_modules/other/index.cjs': "exports.text = 'one';",
    'node_modules/loader/package.json': '{ "name": "loader", "version": "1.0.0", "main": "index.cjs" }',
    'node_modules/loader/index.cjs': 'exports.load = path => require(path);',
  });
});
afterEach(() => world.remove());

describe('a module outside of the code digest', () => {
  it.each([
    ['import() of a computed name', "await import(name + '.js')", 'secret.js'],
    ['import() made of text', 'await eval("import(name + \'.js\')")', 'secret.js'],
    ['import of a `data:` URL that imports', "await import(`data:text/javascript,export * from 'AT/plugins/secret.js'`)", 'secret.js'],
    ['import() in a CommonJS module of another ending', "await createRequire(import.meta.url)('./lazy.txt')()", 'secret.js'],
    ['import() of JSON', "(await import(name + '.json', { with: { type: 'json' } })).default", 'secret.json'],
    ['require of a computed name', "createRequire(import.meta.url)(name + '.cjs')", 'secret.cjs'],
    ['require in a CommonJS helper', "(await import('./load.cjs')).load(name + '.cjs')", 'secret.cjs'],
    ['require of JSON', "createRequire(import.meta.url)(name + '.json')", 'secret.json'],
    [
      'require by an installed package',
      "(await import('loader')).load(process.env.HOME && new URL(name + '.cjs', import.meta.url).pathname)",
      'secret.cjs',
    ],
    ['an installed package of a computed name', "createRequire(import.meta.url)(['oth', 'er'].join(''))", 'other/index.cjs'],
    [
      'import() of a computed name in a thread',
      "await inThread(new Worker(new URL('./thread.js', import.meta.url), { execArgv: [], workerData: name + '.js' }))",
      'secret.js',
    ],
    ['a thread of a computed name', "await inThread(new Worker(new URL(name + '.cjs', import.meta.url)))", 'secret.cjs'],
    [
      'a thread of a thread, from text',
      "await inThread(new Worker(`const { Worker, parentPort } = require('node:worker_threads'); new Worker('AT/plugins/secret.js').on('error', () => parentPort.postMessage({ text: 'none' }))`, { eval: true }))",
      'secret.js',
    ],
    ['what the plugin then goes on without', "await import(name + '.js').catch(() => ({ text: 'none' }))", 'secret.js'],
  ])('is refused: %s', (_name, load, path) => {
    world.write(
      'plugins/plugin.js',
      plugin(load.replace(/(file:\/\/)?AT/, load.includes('eval: true') ? world.folder : `file://${world.folder}`)),
    );
    const built = world.run('build');

    expect(built.stderr + built.stdout).toContain('error[undeclared-module]: act: ');
    expect(built.stderr + built.stdout).toMatch(new RegExp(`loads /.*/${path}, which is not in the plugin's code digest`));
    expect(built.exitCode).toBe(1);
  });

  it('is not one imported by a module without an extension: an edit of it runs the stage', () => {
    world.write('plugins/helper', "export * from './secret.js';");
    world.write('plugins/plugin.js', plugin("await import('./helper')"));
    expect(world.run('build').exitCode).toBe(0);
    world.write('plugins/secret.js', "export const text = 'two';");
    expect(world.run('build').exitCode).toBe(0);
    expect(world.read('artifacts/act/out')).toBe('two');
  });

  it('is none if a thread loads what its module names', () => {
    world.write(
      'plugins/thread.js',
      "import { parentPort } from 'node:worker_threads'; import { text } from './secret.js'; parentPort.postMessage({ text });",
    );
    world.write('plugins/plugin.js', plugin("await inThread(new Worker(new URL('./thread.js', import.meta.url)))"));
    const built = world.run('build');
    expect(built.stdout + built.stderr).toContain('1 executed');
    expect(world.read('artifacts/act/out')).toBe('one');
  });

  it('is named with the module that imports it', () => {
    world.write('plugins/plugin.js', plugin("await import(name + '.js')"));
    const { stdout, stderr } = world.run('build');
    expect(stdout + stderr).toContain(`module ${world.folder}/plugins/plugin.js loads ${world.folder}/plugins/secret.js`);
  });

  it.each([
    ['ES module', "await import(name + '.js')", "['secret.js']", 'plugins/secret.js', "export const text = 'two';"],
    ['CommonJS', "createRequire(import.meta.url)(name + '.cjs')", "['./secret.cjs']", 'plugins/secret.cjs', "exports.text = 'two';"],
    ['folder', "createRequire(import.meta.url)(name + '.json')", "['../plugins']", 'plugins/secret.json', '{ "text": "two" }'],
    [
      'URL',
      "await import(name + '.js')",
      "[new URL('./secret.js', import.meta.url).href]",
      'plugins/secret.js',
      "export const text = 'two';",
    ],
  ])('that the plugin declares in `reads` is loaded, and an edit runs the stage: %s', (_name, load, reads, path, edited) => {
    world.write('plugins/plugin.js', plugin(load, `reads: ${reads},`));
    const first = world.run('build');
    expect(first.stdout + first.stderr).toContain('1 executed');
    expect(world.read('artifacts/act/out')).toBe('one');
    world.write(path, edited);
    expect(world.run('build').exitCode).toBe(0);
    expect(world.read('artifacts/act/out')).toBe('two');
  });

  it('is none after the folder of plugins became a link to where it was moved', async () => {
    world.write('plugins/plugin.js', plugin("createRequire(import.meta.url)(name + '.cjs')", "reads: ['./secret.cjs'],"));
    // Stamps of files that were just written prove nothing, and would not be used.
    await wait(100);
    expect(world.run('build').exitCode).toBe(0);
    renameSync(join(world.folder, 'plugins'), join(world.folder, 'moved'));
    symlinkSync('moved', join(world.folder, 'plugins'));

    const built = world.run('build', '--force');

    expect(built.stdout + built.stderr).toContain('1 executed');
    expect(world.read('artifacts/act/out')).toBe('one');
  });
});
