/** Does a plugin's code digest see what changes its results, and nothing else? */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../../src/base/digest.js';
import { CODE_TABLE, closureDigest, createCodeDigests } from '../../../../src/engine/action/code-digest.js';
import { createModuleGraph } from '../../../../src/engine/action/module-graph.js';
import { DIST } from '../../../support/shapes-project.js';

const text: Readonly<Record<string, string>> = {
  '/p/stage.js': "import { a } from './a.js'; export * from './b.js'; const lazy = () => import('./lazy.js');",
  '/p/a.js': "import 'node:fs'; export const a = 1;",
  '/p/b.js': "export { c } from './c.js';",
  '/p/c.js': "import './b.js'; export const c = 1;",
  '/p/lazy.js': 'export const lazy = 1;',
  '/p/stranger.js': "import './a.js';",
};

describe('the closure of a module', () => {
  it('follows static imports, re-exports and dynamic imports, through cycles', async () => {
    const graph = await createModuleGraph(read(text));
    expect(
      graph
        .closureOf('/p/stage.js')
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/p/a.js', '/p/b.js', '/p/c.js', '/p/lazy.js', '/p/stage.js']);
  });

  it.each(['/p/a.js', '/p/c.js', '/p/lazy.js'])('changes its digest with %s', async path => {
    expect(await digestWith({ [path]: `${text[path]}\n;` })).not.toBe(await digestWith({}));
  });

  it('does not change with a module that imports it, or with its place on the disk', async () => {
    expect(await digestWith({ '/p/stranger.js': 'x' })).toBe(await digestWith({}));
    const moved = Object.fromEntries(Object.entries(text).map(([path, content]) => [path.replace('/p/', '/q/r/'), content]));
    const graph = await createModuleGraph(read(moved));
    expect(closureDigest(graph, '/q/r/stage.js', DIST)).toBe(await digestWith({}));
  });

  it('follows the requires of a CommonJS module, and pins packages with all they depend on', async () => {
    const graph = await createModuleGraph();
    const [session] = graph.closureOf(join(DIST, 'src/runtime/session.js'));
    expect(session?.packages).toContainEqual(expect.stringMatching(/^onnxruntime-node@1\./));
    expect(session?.packages).toContainEqual(expect.stringMatching(/^onnxruntime-common@1\./));
  });
});

describe("the built product's code digests", () => {
  const stages = ['quantize', 'calibrate', 'evaluate', 'export'];
  const renderers = ['src/cli/render/build-report.js', 'src/cli/main.js', 'src/engine/build.js'];

  it('of quantize change with the range code; a renderer or the engine change none', async () => {
    const before = await createModuleGraph();
    const changed = await createModuleGraph(path => `${readFileSync(path)}${path.endsWith('src/quant/range.js') ? '\n;' : ''}`);
    const rendered = await createModuleGraph(path => `${readFileSync(path)}${renderers.some(name => path.endsWith(name)) ? '\n;' : ''}`);
    const of = (graph: typeof before, name: string) => closureDigest(graph, join(DIST, `stages/${name}/stage.js`), DIST);
    for (const name of stages) {
      expect(of(rendered, name)).toBe(of(before, name));
      if (name === 'quantize') expect(of(changed, name)).not.toBe(of(before, name));
      if (name === 'export' || name === 'calibrate') expect(of(changed, name)).toBe(of(before, name));
    }
    expect(of(rendered, 'command')).toBe(of(before, 'command'));
    for (const path of [...renderers, 'src/quant/range.js']) expect(existsSync(join(DIST, path))).toBe(true);
  });

  it('of compile change with the program that it puts into bundles, which is no module', async () => {
    const of = async (graph: ReturnType<typeof createModuleGraph>) =>
      closureDigest(await graph, join(DIST, 'stages/compile/stage.js'), DIST);
    const changed = createModuleGraph(path => `${readFileSync(path)}${path.endsWith('board/runner.py') ? '\n' : ''}`);
    expect(await of(changed)).not.toBe(await of(createModuleGraph()));
  });

  it('stand in the table as the walk computes them, with the stage runtime in each', async () => {
    const table = JSON.parse(readFileSync(join(DIST, CODE_TABLE), 'utf8')) as Record<string, string>;
    const graph = await createModuleGraph();
    const path = 'stages/command/stage.js';
    expect(table[path]).toBe(closureDigest(graph, join(DIST, path), DIST));
    const random = await createModuleGraph(at => `${readFileSync(at)}${at.endsWith('src/stage/random.js') ? '\n;' : ''}`);
    expect(closureDigest(random, join(DIST, path), DIST)).not.toBe(table[path]);
  });

  it('are found without reading modules', () => {
    const digests = createCodeDigests(DIST, { code: new Map() }, () => undefined);
    expect(digests.find(join(DIST, 'stages/command/stage.js'))?.digest).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the table of an installation', () => {
  it('that is written anew while a process runs ends its stages with installation-changed', () => {
    const root = mkdtempSync(join(tmpdir(), 'tanren-root-'));
    const write = (text: string): void => writeFileSync(join(root, CODE_TABLE), JSON.stringify({ 'stages/a/stage.js': digestBytes(text) }));
    try {
      write('one');
      const digests = createCodeDigests(root, { code: new Map() }, () => undefined);
      expect(digests.find(join(root, 'stages/a/stage.js'))?.digest).toBe(digestBytes('one'));
      rmSync(join(root, CODE_TABLE));
      write('two');
      expect(() => digests.find(join(root, 'stages/a/stage.js'))).toThrow(expect.objectContaining({ code: 'installation-changed' }));
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

function read(files: Readonly<Record<string, string>>): (path: string) => string {
  return path => files[path] ?? readFileSync(path, 'utf8');
}

async function digestWith(changed: Readonly<Record<string, string>>): Promise<string> {
  return closureDigest(await createModuleGraph(read({ ...text, ...changed })), '/p/stage.js', DIST);
}
