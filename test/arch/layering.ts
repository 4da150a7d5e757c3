/** Checks of an import graph against the layering: which layer imports which, and in which order the folders of a layer lie. */
import { posix } from 'node:path';
import type { Arrows } from './documented-layers.js';
import type { ImportGraph } from './import-graph.js';

/** The imports between layers that exist: layer → layers that its files import. */
export function arrowsOf(graph: ImportGraph): ReadonlyMap<string, ReadonlySet<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const layer = layerOf(file);
    if (layer === undefined) continue;
    const found = arrows.get(layer) ?? new Set<string>();
    arrows.set(layer, found);
    for (const imported of imports) {
      const other = layerOf(imported);
      if (other !== undefined && other !== layer) found.add(other);
    }
  }
  return arrows;
}

/** Arrows that point up or to an unknown layer: each layer may import only layers above it on the page. */
export function checkOrder(arrows: Arrows): string[] {
  const above = new Set<string>();
  return [...arrows].flatMap(([layer, imported]) => {
    const problems = imported.filter(other => !above.has(other)).map(other => `${layer} ─► ${other}: it points up`);
    above.add(layer);
    return problems;
  });
}

/** Imports that break the layering, one sentence each. */
export function checkLayering(graph: ImportGraph, arrows: Arrows): string[] {
  const problems: string[] = [];
  for (const [file, imports] of graph) {
    const layer = layerOf(file);
    if (layer === undefined) continue;
    if (/\/index\.ts$/.test(file)) problems.push(`${file}: no index files; import from the file that defines the thing`);
    for (const imported of imports) {
      const other = layerOf(imported);
      if (other === undefined) continue;
      if (other !== layer && !(arrows.get(layer) ?? []).includes(other))
        problems.push(`${file} imports ${imported}: docs/architecture.md has no arrow ${layer} ─► ${other}`);
      if (layer === 'stages' && other === 'stages' && pluginOf(file) !== pluginOf(imported) && pluginOf(file) !== undefined) {
        problems.push(`${file} imports ${imported}: a plugin may not know another plugin`);
      }
    }
  }
  return problems;
}

/** Imports inside `layer` ("src/engine/") that point up, and folders without a place in `order`, one sentence each. */
export function checkFolderOrder(graph: ImportGraph, layer: string, order: readonly string[]): string[] {
  const rankOf = (path: string): number | undefined => {
    const [folder, rest] = path.startsWith(layer) ? path.slice(layer.length).split('/') : [];
    return folder === undefined || rest === undefined ? undefined : order.indexOf(folder);
  };
  const problems: string[] = [];
  for (const [file, imports] of graph) {
    const rank = rankOf(file);
    if (rank === -1) problems.push(`${file}: its folder is not in the table of ${layer}`);
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

/** "src/onnx/check.ts" → "src/onnx", "stages/split/run.ts" → "stages"; undefined for packages and other folders. */
function layerOf(path: string): string | undefined {
  if (path.startsWith('stages/')) return 'stages';
  return /^(src\/[^/]+)\//.exec(path)?.[1];
}

/** "stages/split/run.ts" → "split"; undefined for stages/registry.ts. */
function pluginOf(path: string): string | undefined {
  return /^stages\/([^/]+)\//.exec(path)?.[1];
}
