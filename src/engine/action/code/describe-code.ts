/** Of which document is a code digest? The modules and packages that a module reaches, by names that are the same on every machine. */
import systemPath, { dirname, join, type PlatformPath, relative } from 'node:path';
import { type Digest, digestJson } from '../../../base/digest.js';
import type { Json, JsonObject } from '../../../base/json.js';
import type { Module, ModuleGraph } from './module-graph.js';
import type { CodeRoot } from './pinned-code.js';
import { isInstalled } from './resolve-module.js';

/** What the context offers and can change bytes: part of every plugin's code. Relative to the install root. */
const STAGE_RUNTIME = ['src/stage/random.js'];

/** @throws EngineError `plugin-module`. */
export function describeCode(graph: ModuleGraph, root: CodeRoot, installRoot: string): Json {
  return {
    module: describeClosure(graph, closureOf(graph, root), installRoot),
    runtime: STAGE_RUNTIME.map(path => describeClosure(graph, graph.closureOf(join(installRoot, path)), installRoot)),
  };
}

/** The digest of all that a module reaches, by paths relative to the install root (built-in) or to its own folder (third parties). */
export function closureDigest(graph: ModuleGraph, modulePath: string, installRoot: string): Digest {
  return digestJson(describeCode(graph, { modulePath, reads: [], pluginPath: modulePath }, installRoot));
}

/** Everything that is code of `root`, its module first. @throws EngineError `plugin-module`. */
export function closureOf(graph: ModuleGraph, { modulePath, reads, pluginPath }: CodeRoot): readonly Module[] {
  return graph.closureOf(modulePath, graph.resolveReads(pluginPath, reads));
}

function describeClosure(graph: ModuleGraph, modules: readonly Module[], installRoot: string): JsonObject {
  const label = labelsOf(modules, installRoot);
  const entries = new Map(modules.map(({ path, digest }) => [label(path), digest as string]));
  for (const { path } of modules) {
    const scope = isInside(installRoot, path) || isInstalled(path) ? undefined : graph.findScope(path);
    const fields = scope === undefined ? {} : fieldsOf(scope.manifest);
    // The whole file may be among the modules; then that says it all.
    if (scope !== undefined && Object.keys(fields).length > 0 && !entries.has(label(scope.path)))
      entries.set(label(scope.path), digestJson(fields));
  }
  return {
    modules: [...entries].sort(([a], [b]) => (a < b ? -1 : 1)),
    packages: [...new Set(modules.flatMap(module => module.packages))].sort(),
  };
}

/** What of a package.json decides how its modules are read, and what specifiers mean. */
function fieldsOf({ type, main, exports, imports, name }: JsonObject): JsonObject {
  const fields = { type, main, exports, imports, ...(exports === undefined ? {} : { name }) };
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** Names without places: of a linked package by the package's name, else relative to the install root (built-in) or to the module's folder. */
function labelsOf(modules: readonly Module[], installRoot: string): (path: string) => string {
  const [first] = modules;
  const own = first === undefined || isInside(installRoot, first.path) ? installRoot : dirname(first.path);
  const linked = modules.flatMap(module => module.linked);
  const packages = own === installRoot ? linked : [...linked, { name: 'tanren', folder: installRoot }];
  const deepestFirst = packages.sort((a, b) => b.folder.length - a.folder.length);
  return path => {
    const found = isInside(own, path) ? undefined : deepestFirst.find(({ folder }) => isInside(folder, path));
    return slashed(found === undefined ? relative(own, path) : join(found.name, relative(found.folder, path)));
  };
}

/** By the rules of `flavor`, those of this system unless it says otherwise. */
export function isInside(folder: string, path: string, flavor: PlatformPath = systemPath): boolean {
  const inner = flavor.relative(folder, path);
  return inner !== '..' && !inner.startsWith(`..${flavor.sep}`) && !flavor.isAbsolute(inner);
}

export function slashed(path: string, { sep }: PlatformPath = systemPath): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
