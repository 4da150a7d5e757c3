/** Checks that imports keep the layering that docs/architecture.md states, and that every arrow it draws exists. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArchitecture, readArrows, readFolderTables } from './documented-layers.js';
import { findCycle, findImports, findProject, makeImportGraph, readSources } from './import-graph.js';
import { arrowsOf, checkFolderOrder, checkLayering, checkOrder, foldersOf } from './layering.js';

const project = findProject(dirname(fileURLToPath(import.meta.url)));
const sources = readSources(project, ['src', 'stages']);
const graph = makeImportGraph(sources);
const arrows = readArrows(readArchitecture(project));
const tables = readFolderTables(readArchitecture(project));

/** Layers whose folders form no import cycle. */
const ACYCLIC_LAYERS = [...tables.keys(), 'src/report/'];

describe('the source tree', () => {
  it('has the imports between folders that docs/architecture.md draws, and no others', () => {
    expect(graph.size).toBeGreaterThan(50);
    expect(checkLayering(graph, arrows)).toEqual([]);
    const existing = arrowsOf(graph);
    expect([...arrows.keys()].sort()).toEqual([...existing.keys()].sort());
    for (const [layer, imported] of arrows)
      expect({ layer, imports: [...imported].sort() }).toEqual({ layer, imports: [...(existing.get(layer) ?? [])].sort() });
  });

  it('has imports that point down only', () => {
    expect(arrows.size).toBeGreaterThan(10);
    expect(checkOrder(arrows)).toEqual([]);
  });

  it('has no import cycle, type imports included', () => {
    expect(findCycle(graph)).toBeUndefined();
  });

  it('has a table for every layer with folders that docs/architecture.md describes', () => {
    expect([...tables.keys()]).toEqual(expect.arrayContaining(['src/engine/', 'src/cli/', 'src/onnx/', 'src/quant/', 'src/detection/']));
  });

  it.each([...tables])('has folders of %s that import only folders above them in the table', (layer, order) => {
    const existing = [...foldersOf(graph, layer).keys()].filter(folder => `${folder}/` !== layer);
    expect([...order].sort()).toEqual([...new Set(existing.map(folder => folder.slice(layer.length).split('/')[0]))].sort());
    expect(checkFolderOrder(graph, layer, order)).toEqual([]);
  });

  it.each(ACYCLIC_LAYERS)('has no import cycle between the folders of %s', layer => {
    expect(foldersOf(graph, layer).size).toBeGreaterThan(0);
    expect(findCycle(foldersOf(graph, layer))).toBeUndefined();
  });

  it('prints only in src/cli', () => {
    const printing = [...sources].filter(
      ([path, source]) => !path.startsWith('src/cli/') && /\bconsole\.|process\.stdout\.write/.test(source),
    );
    expect(printing.map(([path]) => path)).toEqual([]);
  });
});

describe('the checker', () => {
  const check = (files: Record<string, string>): string[] => checkLayering(makeImportGraph(new Map(Object.entries(files))), arrows);

  it('finds an import that points up', () => {
    expect(check({ 'src/onnx/a.ts': `import type { B } from '../quant/b.js';` })).toEqual([
      'src/onnx/a.ts imports src/quant/b.ts: docs/architecture.md has no arrow src/onnx ─► src/quant',
    ]);
  });

  it('finds an engine that knows tensors, and a plugin that knows another one', () => {
    expect(check({ 'src/engine/run/a.ts': `import { t } from '../../tensor/tensor.js';` })).toHaveLength(1);
    expect(check({ 'stages/split/run.ts': `const m = await import('../export/run.js');` })).toEqual([
      'stages/split/run.ts imports stages/export/run.ts: a plugin may not know another plugin',
    ]);
  });

  it('finds a drawn arrow that points up', () => {
    const drawn = readArrows('```\nsrc/a ─► nothing\nsrc/b ─► src/a,\n         src/c\nsrc/c ─► src/a\n```\n');
    expect(drawn.get('src/b')).toEqual(['src/a', 'src/c']);
    expect(checkOrder(drawn)).toEqual(['src/b ─► src/c: it points up']);
  });

  it('finds a cycle through a type import', () => {
    const cyclic = makeImportGraph(
      new Map([
        ['src/base/a.ts', `import type { B } from './b.js';`],
        ['src/base/b.ts', `export { a } from './a.js';`],
      ]),
    );
    expect(findCycle(cyclic)).toEqual(['src/base/a.ts', 'src/base/b.ts', 'src/base/a.ts']);
  });

  it('finds an import inside the engine that points up, and a cycle of folders', () => {
    const files = makeImportGraph(
      new Map([
        ['src/engine/store/a.ts', `import type { B } from '../schedule/b.js';`],
        ['src/engine/schedule/b.ts', `export { c } from '../store/c.js';`],
        ['src/engine/store/c.ts', ''],
        ['src/engine/strange/d.ts', ''],
      ]),
    );
    expect(checkFolderOrder(files, 'src/engine/', ['store', 'schedule'])).toEqual([
      'src/engine/store/a.ts imports src/engine/schedule/b.ts: it points up',
      'src/engine/strange/d.ts: its folder is not in the table of src/engine/',
    ]);
    expect(findCycle(files)).toBeUndefined();
    expect(findCycle(foldersOf(files, 'src/engine/'))).toEqual(['src/engine/store', 'src/engine/schedule', 'src/engine/store']);
  });

  it('reads imports over several lines and skips comments', () => {
    expect(findImports(`import {\n  a,\n  b,\n} from './x.js';\n// import './no.js'\n/* from './no.js' */\nimport 'y';`)).toEqual([
      './x.js',
      'y',
    ]);
  });
});
