/** The document behind a code digest: the modules and packages that a module reaches, by names that are the same on every machine. */
import systemPath, { dirname, join, type PlatformPath, relative } from 'node:path';
import { type Digest, digestJson } from '../../../base/digest.js';
import type { Json, JsonObject } from '../../../base/json.js';
import type { Module, ModuleGraph } from './module-graph.js';
import type { CodeRoot } from './pinned-code.js';
import { isInstalled } from './resolve-module.js';

/** Modules of the stage context that can change output bytes, and are therefore part of every plugin's code. Relative to the install root. */
const STAGE_RUNTIME = ['src/stage/random.js'];

/** @throws EngineError `plugin-module`. */
export function describeCode(graph: ModuleGraph, root: CodeRoot, installRoot: string): Json {
  return {
    module: describeClosure(graph, closureOf(graph, root), installRoot),
    runtime: STAGE_RUNTIME.map(path => describeClosure(graph, graph.closureOf(join(installRoot, path)), installRoot)),
  };
}

/** Returns the digest of everything that a module reaches. Paths are relative to the install root (built-in) or to the module's folder (third-party). */
export function closureDigest(graph: ModuleGraph, modulePath: string, installRoot: string): Digest {
  return digestJson(describeCode(graph, { modulePath, reads: [], pluginPath: modulePath }, installRoot));
}

/** Returns all modules that are code of `root`, its own module first. @throws EngineError `plugin-module`. */
export function closureOf(graph: ModuleGraph, { modulePath, reads, pluginPath }: CodeRoot): readonly Module[] {
  return graph.closureOf(modulePath, graph.resolveReads(pluginPath, reads));
}

function describeClosure(graph: ModuleGraph, modules: readonly Module[], installRoot: string): JsonObject {
  const label = labelsOf(modules, installRoot);
  const entries = new Map<string, string>(modules.map(({ path, digest }) => [label(path), digest]));
  for (const { path } of modules) {
    const scope = isInside(installRoot, path) || isInstalled(path) ? undefined : graph.findScope(path);
    const fields = scope === undefined ? {} : fieldsOf(scope.manifest);
    // The whole package.json may be one of the modules. Its digest then covers these fields.
    if (scope !== undefined && Object.keys(fields).length > 0 && !entries.has(label(scope.path)))
      entries.set(label(scope.path), digestJson(fields));
  }
  return {
    modules: [...entries].sort(([a], [b]) => (a < b ? -1 : 1)),
    packages: [...new Set(modules.flatMap(module => module.packages))].sort(),
  };
}

/** Returns the fields of a package.json that determine how its modules are read and what specifiers mean. */
export function fieldsOf({ type, main, exports, imports, name }: JsonObject): JsonObject {
  const fields = { type, main, exports, imports, ...(exports === undefined ? {} : { name }) };
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/**
 * Returns names that do not depend on the place of installation. In a linked package they start with the package's name;
 * otherwise they are relative to the install root (built-in) or to the module's folder.
 */
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

/** Follows the path rules of `flavor`; by default those of this system. */
export function isInside(folder: string, path: string, flavor: PlatformPath = systemPath): boolean {
  const inner = flavor.relative(folder, path);
  return inner !== '..' && !inner.startsWith(`..${flavor.sep}`) && !flavor.isAbsolute(inner);
}

export function slashed(path: string, { sep }: PlatformPath = systemPath): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
