/** Which files import which. Type imports count too: the layering is about what a reader must know, not only about what runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Path from the project folder ("src/onnx/check.ts") → paths and package names that it imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'";]*?\bfrom\s*'([^']+)'|(?:^|\n)\s*import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g;

/** The specifiers that `source` imports, re-exports from, or imports dynamically; comments do not count. */
export function findImports(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
  return [...code.matchAll(IMPORT)].map(match => match[1] ?? match[2] ?? match[3] ?? '');
}

/** The graph of sources given by path; relative specifiers become paths with `.ts` or `.tsx`. */
export function makeImportGraph(sources: ReadonlyMap<string, string>): ImportGraph {
  const resolve = (from: string, specifier: string): string => {
    const path = resolveSpecifier(from, specifier);
    return sources.has(`${path}x`) ? `${path}x` : path;
  };
  return new Map([...sources].map(([path, source]) => [path, findImports(source).map(specifier => resolve(path, specifier))]));
}

function resolveSpecifier(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts');
}

/** Reads every TypeScript file under `folders` of the project. */
export function readSources(project: string, folders: readonly string[]): Map<string, string> {
  const sources = new Map<string, string>();
  for (const folder of folders) {
    for (const entry of readdirSync(join(project, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      sources.set(path.slice(project.length + 1).replaceAll('\\', '/'), readFileSync(path, 'utf8'));
    }
  }
  return sources;
}

/** The project folder: the nearest one above this compiled file that has a pipeline.yaml. */
export function findProject(start: string): string {
  let folder = start;
  while (!readdirSync(folder).includes('pipeline.yaml')) folder = dirname(folder);
  return folder;
}

/** The first import cycle found, as the list of its files with the first one repeated; undefined where there is none. */
export function findCycle(graph: ImportGraph): string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): string[] | undefined => {
    const seenAt = trail.indexOf(file);
    if (seenAt >= 0) return [...trail.slice(seenAt), file];
    if (done.has(file) || !graph.has(file)) return undefined;
    trail.push(file);
    for (const imported of graph.get(file) ?? []) {
      const cycle = visit(imported);
      if (cycle !== undefined) return cycle;
    }
    trail.pop();
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
