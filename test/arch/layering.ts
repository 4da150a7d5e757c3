/** Which room may import which: the table of docs/architecture.md as data, and a check of a graph against it. */
import { posix } from 'node:path';
import type { ImportGraph } from './import-graph.js';

const LIBRARIES = ['detection', 'target', 'quant', 'runtime', 'onnx', 'tensor', 'base'] as const;

/** Room → rooms that its files may import besides their own. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  tensor: ['base'],
  onnx: ['tensor', 'base'],
  runtime: ['onnx', 'tensor', 'base'],
  quant: ['runtime', 'onnx', 'tensor', 'base'],
  target: ['quant', 'runtime', 'onnx', 'tensor', 'base'],
  detection: ['quant', 'runtime', 'onnx', 'tensor', 'base'],
  stage: ['base'],
  engine: ['stage', 'base'],
  report: ['base'],
  stages: ['stage', 'report', ...LIBRARIES],
  cli: ['engine', 'stage', 'report', 'stages', ...LIBRARIES],
};

/** What breaks the layering, one sentence each. */
export function checkLayering(graph: ImportGraph): string[] {
  const problems: string[] = [];
  for (const [file, imports] of graph) {
    const room = roomOf(file);
    if (room === undefined) continue;
    if (/\/index\.ts$/.test(file)) problems.push(`${file}: no index files; import from the file that defines the thing`);
    for (const imported of imports) {
      const other = roomOf(imported);
      if (other === undefined) continue;
      if (other !== room && !(ALLOWED[room] ?? []).includes(other))
        problems.push(`${file} imports ${imported}: ${room} may not know ${other}`);
      if (room === 'stages' && other === 'stages' && pluginOf(file) !== pluginOf(imported) && pluginOf(file) !== undefined) {
        problems.push(`${file} imports ${imported}: a plugin may not know another plugin`);
      }
    }
  }
  return problems;
}

/** The folders of src/engine: each imports only those before it. Files beside them (build.ts) may import all. */
const ENGINE_FOLDERS: readonly string[] = [
  'model',
  'config',
  'planning',
  'store',
  'action',
  'execute',
  'schedule',
  'lockfile',
  'insight',
  'noop',
  'watch',
];

/** Imports inside src/engine that point up, one sentence each. */
export function checkEngineFolders(graph: ImportGraph): string[] {
  const rankOf = (path: string): number | undefined => {
    const folder = /^src\/engine\/([^/]+)\//.exec(path)?.[1];
    if (folder === undefined) return path.startsWith('src/engine/') ? ENGINE_FOLDERS.length : undefined;
    return ENGINE_FOLDERS.indexOf(folder);
  };
  const problems: string[] = [];
  for (const [file, imports] of graph) {
    const rank = rankOf(file);
    if (rank === -1) problems.push(`${file}: its folder has no place in the order of src/engine`);
    if (rank === undefined) continue;
    for (const imported of imports) {
      if ((rankOf(imported) ?? -1) > rank) problems.push(`${file} imports ${imported}: it points up`);
    }
  }
  return problems;
}

/** The graph of the folders of files: a folder imports another where one of its files does. */
export function foldersOf(graph: ImportGraph, under: string): ImportGraph {
  const folders = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    if (!file.startsWith(under)) continue;
    const folder = posix.dirname(file);
    const found = folders.get(folder) ?? new Set<string>();
    folders.set(folder, found);
    for (const imported of imports) {
      if (imported.startsWith(under) && posix.dirname(imported) !== folder) found.add(posix.dirname(imported));
    }
  }
  return new Map([...folders].map(([folder, found]) => [folder, [...found]]));
}

/** "src/onnx/check.ts" → "onnx", "stages/split/run.ts" → "stages"; undefined for packages and other folders. */
function roomOf(path: string): string | undefined {
  if (path.startsWith('stages/')) return 'stages';
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

/** "stages/split/run.ts" → "split"; undefined for stages/registry.ts. */
function pluginOf(path: string): string | undefined {
  return /^stages\/([^/]+)\//.exec(path)?.[1];
}
