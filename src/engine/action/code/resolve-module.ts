/** Resolution of module specifiers by Node's rules against the current files. Node's own resolver caches what it saw for the lifetime of a process. */
import { builtinModules } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../base/json.js';
import { systemCode } from '../../../base/system-error.js';
import type { NamedFile } from './find-specifiers.js';

/** The file system as a resolver sees it. Every path that is queried affects the result, whether or not a file exists there. */
export interface ModuleFiles {
  /** Returns the type of the file at the path, with links followed. */
  kindOf(path: string): 'file' | 'folder' | undefined;
  read(path: string): Buffer | string;
  /** Returns the path of the existing file without links. */
  realPath(path: string): string;
}

/** The folder of a package, without links. */
export interface PackageFolder {
  readonly name: string;
  readonly folder: string;
}

export type Resolution =
  | { readonly kind: 'built-in' }
  /** `linked`: the package by whose name the module was found, if it is linked, not installed. */
  | { readonly kind: 'module'; readonly path: string; readonly linked?: PackageFolder }
  /** In a folder of installed packages. Its manifest stands for its content. */
  | { readonly kind: 'installed'; readonly package: PackageFolder }
  | { readonly kind: 'missing' };

export interface Resolver {
  /** @param from the real path of the module that contains the specifier. */
  resolve(specifier: string, from: string, how: NamedFile['how']): Resolution;
  /** Returns the package.json that determines how a module is read and what its specifiers mean; undefined if there is none. */
  findScope(path: string): { readonly path: string; readonly manifest: JsonObject } | undefined;
  /** Returns the folder of a package as modules in `from` find it. */
  findPackage(name: string, from: string): PackageFolder | undefined;
  manifestOf(folder: string): JsonObject | undefined;
}

const MISSING: Resolution = { kind: 'missing' };
const ENDINGS = ['', '.js', '.json', '.node'] as const;

/** A path, another specifier to resolve, 'none' for an explicit exclusion, or undefined for no match. */
type Target = { readonly path: string } | { readonly name: string } | 'none' | undefined;

export function createResolver(files: ModuleFiles): Resolver {
  const manifests = new Map<string, JsonObject | undefined>();

  const manifestOf = (folder: string): JsonObject | undefined => {
    const path = join(folder, 'package.json');
    if (!manifests.has(path)) {
      const document = files.kindOf(path) === 'file' ? parseJson(files.read(path).toString()) : undefined;
      manifests.set(path, isJsonObject(document) ? document : document === undefined ? undefined : {});
    }
    return manifests.get(path);
  };

  const findScope: Resolver['findScope'] = path => {
    for (const folder of foldersAbove(path)) {
      if (folder.endsWith(`${sep}node_modules`)) return undefined;
      const manifest = manifestOf(folder);
      if (manifest !== undefined) return { path: join(folder, 'package.json'), manifest };
    }
    return undefined;
  };

  const findPackage: Resolver['findPackage'] = (name, from) => {
    for (const folder of [from, ...foldersAbove(from)]) {
      if (folder.endsWith(`${sep}node_modules`)) continue;
      const candidate = join(folder, 'node_modules', name);
      if (files.kindOf(candidate) === 'folder') return { name, folder: files.realPath(candidate) };
    }
    return undefined;
  };

  const asFile = (path: string): string | undefined => ENDINGS.map(ending => path + ending).find(at => files.kindOf(at) === 'file');
  const asIndex = (folder: string): string | undefined => asFile(join(folder, 'index.js')) ?? asFile(join(folder, 'index'));
  const asFolder = (folder: string): string | undefined => {
    if (files.kindOf(folder) !== 'folder') return undefined;
    const main = manifestOf(folder)?.main;
    const at = typeof main === 'string' ? resolve(folder, main) : undefined;
    return (at === undefined ? undefined : (asFile(at) ?? asIndex(at))) ?? asIndex(folder);
  };
  const exact = (path: string): string | undefined => (files.kindOf(path) === 'file' ? path : undefined);
  const found = (path: string | undefined, linked?: PackageFolder): Resolution =>
    path === undefined ? MISSING : { kind: 'module', path: files.realPath(path), ...(linked === undefined ? {} : { linked }) };

  const byPath = (specifier: string, from: string, how: NamedFile['how']): string | undefined => {
    if (how !== 'require') return exact(fileURLToPath(new URL(specifier, pathToFileURL(from))));
    const path = resolve(dirname(from), specifier);
    return (/(^|\/)\.{0,2}$/.test(specifier) ? undefined : asFile(path)) ?? asFolder(path);
  };

  const byTarget = (target: Target, folder: string, how: NamedFile['how'], linked?: PackageFolder): Resolution => {
    if (target === undefined || target === 'none') return MISSING;
    if ('path' in target) return found(exact(target.path), linked);
    return byName(target.name, join(folder, 'package.json'), how);
  };

  const byName = (specifier: string, from: string, how: NamedFile['how']): Resolution => {
    if (isBuiltIn(specifier)) return { kind: 'built-in' };
    const { name, inner } = splitName(specifier);
    const conditions = conditionsOf(how);
    const scope = findScope(from);
    if (scope?.manifest.name === name && scope.manifest.exports !== undefined && scope.manifest.exports !== null) {
      const folder = dirname(scope.path);
      return byTarget(resolveExports(scope.manifest.exports, inner, folder, conditions), folder, how);
    }
    const located = findPackage(name, dirname(from));
    if (located === undefined) return how === 'require' ? found(findLoneFile(specifier, from)) : MISSING;
    if (isInstalled(located.folder)) return { kind: 'installed', package: located };
    const { folder } = located;
    const exports = manifestOf(folder)?.exports;
    if (exports !== undefined && exports !== null)
      return byTarget(resolveExports(exports, inner, folder, conditions), folder, how, located);
    if (inner === '.') return found(asFolder(folder), located);
    const path = join(folder, inner);
    return found(how === 'require' ? (asFile(path) ?? asFolder(path)) : exact(path), located);
  };

  /** CommonJS also finds single files in node_modules. */
  const findLoneFile = (specifier: string, from: string): string | undefined => {
    for (const folder of foldersAbove(from)) {
      const path = folder.endsWith(`${sep}node_modules`) ? undefined : asFile(join(folder, 'node_modules', specifier));
      if (path !== undefined) return path;
    }
    return undefined;
  };

  return {
    manifestOf,
    findScope,
    findPackage,
    resolve(specifier, from, how) {
      try {
        if (/^\.{1,2}(\/|$)|^\//.test(specifier) || how === 'url') return found(byPath(specifier, from, how));
        if (specifier.startsWith('file:')) return how === 'require' ? MISSING : found(exact(fileURLToPath(new URL(specifier))));
        if (!specifier.startsWith('#')) return /^[a-z][a-z0-9+.-]+:/.test(specifier) ? { kind: 'built-in' } : byName(specifier, from, how);
        const scope = findScope(from);
        const folder = dirname(scope?.path ?? from);
        return byTarget(resolveKeys(scope?.manifest.imports, specifier, folder, conditionsOf(how), 'names'), folder, how);
      } catch (error) {
        // Node does not load an invalid URL or an inaccessible file either.
        if (systemCode(error) !== undefined) return MISSING;
        throw error;
      }
    },
  };
}

/** Whether the path is inside a folder where package managers install. Packages that they only link, such as those of a workspace, are elsewhere. */
export function isInstalled(realPath: string): boolean {
  return realPath.split(sep).includes('node_modules');
}

function isBuiltIn(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

function conditionsOf(how: NamedFile['how']): ReadonlySet<string> {
  const both = 'require_module' in process.features && process.features.require_module === true ? ['module-sync'] : [];
  return new Set(['node', 'node-addons', how === 'require' ? 'require' : 'import', ...both]);
}

/** Splits "@scope/name/inner/file" into "@scope/name" and "./inner/file". */
function splitName(specifier: string): { readonly name: string; readonly inner: string } {
  const parts = specifier.split('/');
  const count = specifier.startsWith('@') ? 2 : 1;
  return { name: parts.slice(0, count).join('/'), inner: ['.', ...parts.slice(count)].join('/') };
}

function resolveExports(exports: Json, inner: string, folder: string, conditions: ReadonlySet<string>): Target {
  const isOne = !isJsonObject(exports) || !Object.keys(exports).some(key => key.startsWith('.'));
  if (isOne) return inner === '.' ? resolveTarget(exports, folder, '', conditions, 'paths') : undefined;
  return resolveKeys(exports, inner, folder, conditions, 'paths');
}

/** Returns the entry for `key`: the exact one, or else that of the pattern with the longest prefix. */
function resolveKeys(
  entries: Json | undefined,
  key: string,
  folder: string,
  conditions: ReadonlySet<string>,
  to: 'paths' | 'names',
): Target {
  if (!isJsonObject(entries)) return undefined;
  const own = entries[key];
  if (own !== undefined && !key.includes('*')) return resolveTarget(own, folder, '', conditions, to);
  const patterns = Object.keys(entries).flatMap(pattern => {
    const [start = '', end, more] = pattern.split('*');
    if (end === undefined || more !== undefined || !key.startsWith(start) || !key.endsWith(end) || key.length < pattern.length) return [];
    return [{ pattern, start, star: key.slice(start.length, key.length - end.length) }];
  });
  const [best] = patterns.sort((a, b) => b.start.length - a.start.length || b.pattern.length - a.pattern.length);
  return best === undefined ? undefined : resolveTarget(entries[best.pattern] ?? null, folder, best.star, conditions, to);
}

function resolveTarget(target: Json, folder: string, star: string, conditions: ReadonlySet<string>, to: 'paths' | 'names'): Target {
  if (target === null) return 'none';
  if (typeof target === 'string') {
    const named = target.replaceAll('*', star);
    if (named.startsWith('./')) return { path: join(folder, named) };
    return to === 'names' && !named.startsWith('/') && !named.startsWith('../') ? { name: named } : undefined;
  }
  if (Array.isArray(target)) {
    const all = target.map(one => resolveTarget(one, folder, star, conditions, to));
    return all.find(one => one !== undefined && one !== 'none') ?? all.at(-1);
  }
  if (!isJsonObject(target)) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    if (condition !== 'default' && !conditions.has(condition)) continue;
    const resolved = resolveTarget(inner, folder, star, conditions, to);
    if (resolved !== undefined) return resolved;
  }
  return undefined;
}

/** Returns the parent folders of a path, the nearest first. */
function foldersAbove(path: string): readonly string[] {
  const above: string[] = [];
  for (let at = path; dirname(at) !== at; at = dirname(at)) above.push(dirname(at));
  return above;
}
