/** Checks that imports keep the layering that docs/architecture.md draws. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCycle, findImports, findProject, makeImportGraph, readSources } from './import-graph.js';
import { checkEngineFolders, checkLayering, foldersOf } from './layering.js';

const sources = readSources(findProject(dirname(fileURLToPath(import.meta.url))), ['src', 'stages']);
const graph = makeImportGraph(sources);

/** Rooms whose folders form no import cycle. */
const ACYCLIC_ROOMS = [
  'src/engine/',
  'src/quant/',
  'src/target/',
  'src/runtime/',
  'src/onnx/',
  'src/tensor/',
  'src/detection/',
  'src/report/',
];

describe('the source tree', () => {
  it('has imports that point down only', () => {
    expect(graph.size).toBeGreaterThan(50);
    expect(checkLayering(graph)).toEqual([]);
  });

  it('has no import cycle, type imports included', () => {
    expect(findCycle(graph)).toBeUndefined();
  });

  it('has folders of the engine in one order', () => {
    expect(checkEngineFolders(graph)).toEqual([]);
    expect(foldersOf(graph, 'src/engine/').size).toBeGreaterThan(10);
  });

  it.each(ACYCLIC_ROOMS)('has no import cycle between the folders of %s', room => {
    expect(foldersOf(graph, room).size).toBeGreaterThan(0);
    expect(findCycle(foldersOf(graph, room))).toBeUndefined();
  });

  it('prints in src/cli alone', () => {
    const printing = [...sources].filter(
      ([path, source]) => !path.startsWith('src/cli/') && /\bconsole\.|process\.stdout\.write/.test(source),
    );
    expect(printing.map(([path]) => path)).toEqual([]);
  });
});

describe('the checker', () => {
  const check = (files: Record<string, string>): string[] => checkLayering(makeImportGraph(new Map(Object.entries(files))));

  it('finds an import that points up', () => {
    expect(check({ 'src/onnx/a.ts': `import type { B } from '../quant/b.js';` })).toEqual([
      'src/onnx/a.ts imports src/quant/b.ts: onnx may not know quant',
    ]);
  });

  it('finds an engine that knows tensors, and a plugin that knows another one', () => {
    expect(check({ 'src/engine/run/a.ts': `import { t } from '../../tensor/tensor.js';` })).toHaveLength(1);
    expect(check({ 'stages/split/run.ts': `const m = await import('../export/run.js');` })).toEqual([
      'stages/split/run.ts imports stages/export/run.ts: a plugin may not know another plugin',
    ]);
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
    expect(checkEngineFolders(files)).toEqual([
      'src/engine/store/a.ts imports src/engine/schedule/b.ts: it points up',
      'src/engine/strange/d.ts: its folder has no place in the order of src/engine',
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
