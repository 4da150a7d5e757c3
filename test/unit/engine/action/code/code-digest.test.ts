/** The code digest of a plugin changes with the modules that affect its results, and with nothing else. */
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { digestBytes } from '../../../../../src/base/digest.js';
import { createCodeDigests } from '../../../../../src/engine/action/code/code-digest.js';
import { CODE_TABLE } from '../../../../../src/engine/action/code/code-table.js';
import { closureDigest } from '../../../../../src/engine/action/code/describe-code.js';
import { createModuleGraph } from '../../../../../src/engine/action/code/module-graph.js';
import type { StampedCode } from '../../../../../src/engine/store/state.js';
import { BUILT_IN_PLUGINS } from '../../../../../stages/registry.js';
import { DIST } from '../../../../support/shapes-project.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-code-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FILES: Readonly<Record<string, string>> = {
  'p/stage.js': "import { a } from './a.js'; export * from './b.js'; const lazy = () => import('./lazy.js');",
  'p/a.js': "import 'node:fs'; export const a = 1;",
  'p/b.js': "export { c } from './c.js';",
  'p/c.js': "import './b.js'; export const c = 1;",
  'p/lazy.js': 'export const lazy = 1;',
  'p/stranger.js': "import './a.js';",
};

/** Writes files and returns the digest of the import closure of `main`. */
async function digestOf(files: Readonly<Record<string, string>>, main = 'p/stage.js', reads: readonly string[] = []): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const digests = createCodeDigests(DIST, { code: new Map() }, () => undefined);
  return (await digests.read(rootOf(join(folder, main), reads))).digest;
}

const rootOf = (modulePath: string, reads: readonly string[] = []) => ({ modulePath, reads, pluginPath: modulePath });

describe('the closure of a module', () => {
  it('follows static imports, re-exports and dynamic imports, through cycles', async () => {
    await digestOf(FILES);
    const graph = await createModuleGraph();
    const paths = graph.closureOf(join(folder, 'p/stage.js')).map(({ path }) => relative(join(folder, 'p'), path));
    expect(paths.sort()).toEqual(['a.js', 'b.js', 'c.js', 'lazy.js', 'stage.js']);
  });

  it.each(['p/a.js', 'p/c.js', 'p/lazy.js'])('changes its digest with %s', async path => {
    expect(await digestOf({ ...FILES, [path]: `${FILES[path]}\n;` })).not.toBe(await digestOf(FILES));
  });

  it('does not change with a module that imports it, or with its place on the disk', async () => {
    const before = await digestOf(FILES);
    expect(await digestOf({ 'p/stranger.js': 'x' })).toBe(before);
    const moved = Object.fromEntries(Object.entries(FILES).map(([path, content]) => [path.replace('p/', 'q/r/'), content]));
    expect(await digestOf(moved, 'q/r/stage.js')).toBe(before);
  });

  it('follows the requires of a CommonJS module, and pins packages with all they depend on', async () => {
    const graph = await createModuleGraph();
    const [session] = graph.closureOf(join(DIST, 'src/runtime/session/session.js'));
    expect(session?.packages).toContainEqual(expect.stringMatching(/^onnxruntime-node@1\./));
    expect(session?.packages).toContainEqual(expect.stringMatching(/^onnxruntime-common@1\./));
  });
});

describe('files that a module reaches in another way than by an import with a path', () => {
  const cases: readonly (readonly [string, string, string, Readonly<Record<string, string>>])[] = [
    ['require without an ending', 'p/m.cjs', "require('./sub')", { 'p/sub.js': '1' }],
    ['require of a folder with index.js', 'p/m.cjs', "require('./dir')", { 'p/dir/index.js': '1' }],
    ['require of a folder with main', 'p/m.cjs', "require('./dir')", { 'p/dir/lib/x.js': '1', 'p/dir/package.json': '{"main":"lib/x"}' }],
    ['require of JSON', 'p/m.cjs', "require('./data')", { 'p/data.json': '1' }],
    ['require.resolve', 'p/m.cjs', "require.resolve('./sub.js')", { 'p/sub.js': '1' }],
    ['createRequire', 'p/m.mjs', "createRequire(import.meta.url)('./sub')", { 'p/sub.js': '1' }],
    ['a loader of another name', 'p/m.mjs', "const load = createRequire(import.meta.url); load('./sub')", { 'p/sub.js': '1' }],
    ['an import with a query', 'p/m.mjs', "import './sub.js?a=1#b'", { 'p/sub.js': '1' }],
    ['an import of JSON', 'p/m.mjs', "import x from './d.json' with { type: 'json' }", { 'p/d.json': '1' }],
    ['a template without a gap', 'p/m.mjs', 'import(`./sub.js`)', { 'p/sub.js': '1' }],
    ['an escaped path', 'p/m.mjs', "import './a%20b.js'", { 'p/a b.js': '1' }],
    ['a file beside it', 'p/m.mjs', "new URL('./x.wasm', import.meta.url)", { 'p/x.wasm': '1' }],
    ['import.meta.resolve', 'p/m.mjs', "import.meta.resolve('./sub.js')", { 'p/sub.js': '1' }],
    ['#imports', 'p/m.mjs', "import '#inner/x'", { 'p/lib/x.js': '1', 'package.json': '{"imports":{"#inner/*":"./p/lib/*.js"}}' }],
    [
      'its own package by name',
      'p/m.mjs',
      "import 'own/x'",
      { 'p/x.js': '1', 'package.json': '{"name":"own","exports":{"./x":"./p/x.js"}}' },
    ],
  ];

  it.each(cases)('%s counts by its content', async (_name, main, text, files) => {
    const before = await digestOf({ [main]: text, ...files }, main);
    const [path = ''] = Object.keys(files);
    expect(await digestOf({ [path]: '2' }, main)).not.toBe(before);
  });

  it('a file: URL', async () => {
    const text = `import '${pathToFileURL(join(folder, 'p/sub.js')).href}'`;
    const before = await digestOf({ 'p/m.mjs': text, 'p/sub.js': '1' }, 'p/m.mjs');
    expect(await digestOf({ 'p/sub.js': '2' }, 'p/m.mjs')).not.toBe(before);
  });

  it('includes files next to the target of a linked module, not files next to the link', async () => {
    const before = await digestOf({ 'real/m.mjs': "import './help.js'", 'real/help.js': '1', 'p/help.js': '1' }, 'real/m.mjs');
    symlinkSync('../real/m.mjs', join(folder, 'p/m.mjs'));
    expect(await digestOf({ 'p/help.js': '2' }, 'p/m.mjs')).toBe(before);
    expect(await digestOf({ 'real/help.js': '2' }, 'p/m.mjs')).not.toBe(before);
  });

  it('a linked package counts by its content, wherever it lies; an installed one by its version', async () => {
    const linked = {
      'packages/lib/package.json': '{"name":"lib","exports":"./lib.js"}',
      'packages/lib/lib.js': "export * from './more.js'",
    };
    const installed = { 'node_modules/got/package.json': '{"name":"got","version":"1.0.0"}', 'node_modules/got/index.js': '1' };
    await digestOf({ 'p/m.mjs': "import 'lib'; import 'got';", ...linked, 'packages/lib/more.js': '1', ...installed }, 'p/m.mjs');
    symlinkSync('../packages/lib', join(folder, 'node_modules/lib'));
    const before = await digestOf({}, 'p/m.mjs');
    expect(await digestOf({ 'node_modules/got/index.js': '2' }, 'p/m.mjs')).toBe(before);
    renameSync(join(folder, 'packages/lib'), join(folder, 'lib'));
    rmSync(join(folder, 'node_modules/lib'));
    symlinkSync('../lib', join(folder, 'node_modules/lib'));
    expect(await digestOf({}, 'p/m.mjs')).toBe(before);
    const other = await digestOf({ 'lib/more.js': '2' }, 'p/m.mjs');
    expect(other).not.toBe(before);
    expect(await digestOf({ 'node_modules/got/package.json': '{"name":"got","version":"1.0.1"}' }, 'p/m.mjs')).not.toBe(other);
  });

  it('includes files that the plugin declares to read, and files added to a declared folder', async () => {
    const files = { 'p/m.mjs': 'import(name)', 'p/data/a.js': "import '../far.js'", 'p/far.js': '1' };
    const before = await digestOf(files, 'p/m.mjs', ['data']);
    expect(await digestOf({ 'p/far.js': '2' }, 'p/m.mjs', ['data'])).not.toBe(before);
    expect(await digestOf({ 'p/far.js': '1', 'p/data/b.txt': '1' }, 'p/m.mjs', ['data'])).not.toBe(before);
  });

  it('how a package.json has them read counts, and nothing else of it', async () => {
    const of = (manifest: string) => digestOf({ 'p/m.js': '1', 'package.json': manifest }, 'p/m.js');
    expect(await of('{"type":"module","version":"2"}')).toBe(await of('{"type":"module","version":"1"}'));
    expect(await of('{"type":"commonjs"}')).not.toBe(await of('{"type":"module"}'));
  });

  it('a new file that precedes the resolved file is noticed without reading modules', async () => {
    await digestOf({ 'p/m.cjs': "require('./sub')", 'p/sub.js': '1' }, 'p/m.cjs');
    const state = { code: new Map<string, StampedCode>() };
    const digests = createCodeDigests(DIST, state, (name, code) => state.code.set(name, code));
    const root = rootOf(join(folder, 'p/m.cjs'));
    for (let tries = 0; digests.find(root) === undefined; tries++) {
      if (tries > 1_000) throw new Error('it does not settle');
      await wait(20);
      await digests.read(root);
    }
    writeFileSync(join(folder, 'p/sub'), '2');
    expect(digests.find(root)).toBeUndefined();
  });
});

describe("the built product's code digests", () => {
  const stages = ['quantize', 'calibrate', 'evaluate', 'export'];
  const renderers = ['src/cli/render/build-report.js', 'src/cli/main.js', 'src/engine/build.js'];

  it('of quantize change with the range code; a renderer or the engine change none', async () => {
    const before = await createModuleGraph();
    const changed = await createModuleGraph(
      readAs(path => `${readFileSync(path)}${path.endsWith('src/quant/range/range.js') ? '\n;' : ''}`),
    );
    const rendered = await createModuleGraph(
      readAs(path => `${readFileSync(path)}${renderers.some(name => path.endsWith(name)) ? '\n;' : ''}`),
    );
    const of = (graph: typeof before, name: string) => closureDigest(graph, join(DIST, `stages/${name}/stage.js`), DIST);
    for (const name of stages) {
      expect(of(rendered, name)).toBe(of(before, name));
      if (name === 'quantize') expect(of(changed, name)).not.toBe(of(before, name));
      if (name === 'export' || name === 'calibrate') expect(of(changed, name)).toBe(of(before, name));
    }
    expect(of(rendered, 'command')).toBe(of(before, 'command'));
    for (const path of [...renderers, 'src/quant/range/range.js']) expect(existsSync(join(DIST, path))).toBe(true);
  });

  it('of compile change with the program that it puts into bundles, which is no module', async () => {
    const of = async (graph: ReturnType<typeof createModuleGraph>) =>
      closureDigest(await graph, join(DIST, 'stages/compile/stage.js'), DIST);
    const changed = createModuleGraph(readAs(path => `${readFileSync(path)}${path.endsWith('board/runner.py') ? '\n' : ''}`));
    expect(await of(changed)).not.toBe(await of(createModuleGraph()));
  });

  it('stand in the table as the walk computes them, with the stage runtime in each', async () => {
    const { modules: table } = JSON.parse(readFileSync(join(DIST, CODE_TABLE), 'utf8')) as { modules: Record<string, string> };
    const graph = await createModuleGraph();
    const path = 'stages/command/stage.js';
    expect(table[path]).toBe(closureDigest(graph, join(DIST, path), DIST));
    const random = await createModuleGraph(readAs(at => `${readFileSync(at)}${at.endsWith('src/stage/random.js') ? '\n;' : ''}`));
    expect(closureDigest(random, join(DIST, path), DIST)).not.toBe(table[path]);
  });

  /** Modules with computed imports that keys cover: decoders are text in recipes, which are inputs; the threads run a module named by its URL. */
  const COVERED = [
    // Evaluates a constant text in a new context, which loads nothing.
    'src/base/collect-garbage.js',
    'src/base/thread-client.js',
    'src/detection/families/single/decoder/decoder-module.js',
    'src/quant/recovery/rounding/settle-thread.js',
    'src/runtime/session/session-thread.js',
    'src/stage/thread-call.js',
    'stages/verify/values-thread.js',
  ];

  it('need no guard: no built-in plugin imports a module outside its key by a computed name', async () => {
    const graph = await createModuleGraph();
    const modules = BUILT_IN_PLUGINS.flatMap(({ module }) => graph.closureOf(join(DIST, module)));
    expect(modules.length).toBeGreaterThan(100);
    const computed = modules.filter(({ loads }) => loads !== 'named').map(({ path }) => relative(DIST, path));
    expect([...new Set(computed)].sort()).toEqual(COVERED);
  });

  it('are found without reading modules', () => {
    const digests = createCodeDigests(DIST, { code: new Map() }, () => undefined);
    expect(digests.find(rootOf(join(DIST, 'stages/command/stage.js')))?.digest).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the table of an installation', () => {
  it('that is written anew while a process runs ends its stages with installation-changed', () => {
    const root = mkdtempSync(join(tmpdir(), 'tanren-root-'));
    const write = (text: string): void =>
      writeFileSync(join(root, CODE_TABLE), JSON.stringify({ packages: {}, modules: { 'stages/a/stage.js': digestBytes(text) } }));
    try {
      write('one');
      const digests = createCodeDigests(root, { code: new Map() }, () => undefined);
      expect(digests.find(rootOf(join(root, 'stages/a/stage.js')))?.digest).toBe(digestBytes('one'));
      rmSync(join(root, CODE_TABLE));
      write('two');
      expect(() => digests.find(rootOf(join(root, 'stages/a/stage.js')))).toThrow(
        expect.objectContaining({ code: 'installation-changed' }),
      );
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('is used on if its files, or those of packages, only get further hard links', async () => {
    const project = mkdtempSync(join(tmpdir(), 'tanren-root-'));
    const [root, got] = [join(project, 'dist'), join(project, 'node_modules/got')];
    try {
      for (const folder of [root, got]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(project, 'package.json'), '{"dependencies":{"got":"^1.0.0"}}');
      writeFileSync(join(got, 'package.json'), '{"version":"1.0.0"}');
      writeFileSync(
        join(root, CODE_TABLE),
        JSON.stringify({ packages: { got: '1.0.0' }, modules: { 'stages/a/stage.js': digestBytes('one') } }),
      );
      const digests = createCodeDigests(root, { code: new Map() }, () => undefined);
      const pinned = digests.find(rootOf(join(root, 'stages/a/stage.js')));
      linkSync(join(got, 'package.json'), join(project, 'linked.json'));
      linkSync(join(root, CODE_TABLE), join(project, 'table.json'));

      expect(pinned === undefined ? 'missing' : await digests.findChanged(pinned)).toBeUndefined();
      expect(digests.find(rootOf(join(root, 'stages/a/stage.js')))?.digest).toBe(digestBytes('one'));

      writeFileSync(join(got, 'package.json'), '{"version":"1.0.1"}');
      expect(pinned === undefined ? undefined : await digests.findChanged(pinned)).not.toBeUndefined();
      expect(() => digests.find(rootOf(join(root, 'stages/a/stage.js')))).toThrow(
        expect.objectContaining({ code: 'installation-changed' }),
      );
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  it('is not used if other package versions are installed than those it was written with', () => {
    const project = mkdtempSync(join(tmpdir(), 'tanren-root-'));
    const [root, got] = [join(project, 'dist'), join(project, 'node_modules/got')];
    const isFound = (): boolean => {
      const fresh = join(project, `dist-${Math.random()}`);
      cpSync(root, fresh, { recursive: true });
      return createCodeDigests(fresh, { code: new Map() }, () => undefined).find(rootOf(join(fresh, 'stages/a/stage.js'))) !== undefined;
    };
    try {
      for (const folder of [root, got]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(project, 'package.json'), '{"dependencies":{"got":"^1.0.0"}}');
      writeFileSync(join(got, 'package.json'), '{"version":"1.0.0"}');
      const table = { packages: { got: '1.0.0' }, modules: { 'stages/a/stage.js': digestBytes('one') } };
      writeFileSync(join(root, CODE_TABLE), JSON.stringify(table));
      expect(isFound()).toBe(true);
      writeFileSync(join(got, 'package.json'), '{"version":"1.0.1"}');
      expect(isFound()).toBe(false);
      rmSync(got, { recursive: true });
      expect(isFound()).toBe(false);
    } finally {
      rmSync(project, { recursive: true });
    }
  });
});

/** Options of a module graph whose files have other contents. */
function readAs(read: (path: string) => string): Parameters<typeof createModuleGraph>[0] {
  return { read };
}
