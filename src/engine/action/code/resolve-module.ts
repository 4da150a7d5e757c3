/** Resolution of module specifiers by Node's rules against the current files. Node's own resolver caches what it saw for the lifetime of a process. */
import { builtinModules } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isJsonObject, type JsonObject, parseJson } from '../../../base/json.js';
import { systemCode } from '../../../base/system-error.js';
import type { NamedFile } from './find-specifiers.js';
import { resolveExports, resolveKeys, type Target } from './package-exports.js';

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

/** The file system and the manifests read so far, by path. */
interface Lookup {
  readonly files: ModuleFiles;
  readonly manifests: Map<string, JsonObject | undefined>;
}

export function createResolver(files: ModuleFiles): Resolver {
  const lookup: Lookup = { files, manifests: new Map() };
  return {
    manifestOf: folder => manifestOf(lookup, folder),
    findScope: path => findScope(lookup, path),
    findPackage: (name, from) => findPackage(lookup, name, from),
    resolve(specifier, from, how) {
      try {
        return resolveSpecifier(lookup, specifier, from, how);
      } catch (error) {
        // Node does not load an invalid URL or an inaccessible file either.
        if (systemCode(error) !== undefined) return MISSING;
        throw error;
      }
    },
  };
}

function resolveSpecifier(lookup: Lookup, specifier: string, from: string, how: NamedFile['how']): Resolution {
  const { files } = lookup;
  if (/^\.{1,2}(\/|$)|^\//.test(specifier) || how === 'url') return found(files, byPath(lookup, specifier, from, how));
  if (specifier.startsWith('file:')) return how === 'require' ? MISSING : found(files, exact(files, fileURLToPath(new URL(specifier))));
  if (!specifier.startsWith('#'))
    return /^[a-z][a-z0-9+.-]+:/.test(specifier) ? { kind: 'built-in' } : byName(lookup, specifier, from, how);
  const scope = findScope(lookup, from);
  const folder = dirname(scope?.path ?? from);
  return byTarget(lookup, resolveKeys(scope?.manifest.imports, specifier, folder, conditionsOf(how), 'names'), folder, how);
}

function byPath(lookup: Lookup, specifier: string, from: string, how: NamedFile['how']): string | undefined {
  if (how !== 'require') return exact(lookup.files, fileURLToPath(new URL(specifier, pathToFileURL(from))));
  const path = resolve(dirname(from), specifier);
  return (/(^|\/)\.{0,2}$/.test(specifier) ? undefined : asFile(lookup.files, path)) ?? asFolder(lookup, path);
}

function byName(lookup: Lookup, specifier: string, from: string, how: NamedFile['how']): Resolution {
  if (isBuiltIn(specifier)) return { kind: 'built-in' };
  const { files } = lookup;
  const { name, inner } = splitName(specifier);
  const conditions = conditionsOf(how);
  const scope = findScope(lookup, from);
  if (scope?.manifest.name === name && scope.manifest.exports !== undefined && scope.manifest.exports !== null) {
    const folder = dirname(scope.path);
    return byTarget(lookup, resolveExports(scope.manifest.exports, inner, folder, conditions), folder, how);
  }
  const located = findPackage(lookup, name, dirname(from));
  if (located === undefined) return how === 'require' ? found(files, findLoneFile(files, specifier, from)) : MISSING;
  if (isInstalled(located.folder)) return { kind: 'installed', package: located };
  const { folder } = located;
  const exports = manifestOf(lookup, folder)?.exports;
  if (exports !== undefined && exports !== null)
    return byTarget(lookup, resolveExports(exports, inner, folder, conditions), folder, how, located);
  if (inner === '.') return found(files, asFolder(lookup, folder), located);
  const path = join(folder, inner);
  return found(files, how === 'require' ? (asFile(files, path) ?? asFolder(lookup, path)) : exact(files, path), located);
}

function byTarget(lookup: Lookup, target: Target, folder: string, how: NamedFile['how'], linked?: PackageFolder): Resolution {
  if (target === undefined || target === 'none') return MISSING;
  if ('path' in target) return found(lookup.files, exact(lookup.files, target.path), linked);
  return byName(lookup, target.name, join(folder, 'package.json'), how);
}

function found(files: ModuleFiles, path: string | undefined, linked?: PackageFolder): Resolution {
  return path === undefined ? MISSING : { kind: 'module', path: files.realPath(path), ...(linked === undefined ? {} : { linked }) };
}

function manifestOf({ files, manifests }: Lookup, folder: string): JsonObject | undefined {
  const path = join(folder, 'package.json');
  if (!manifests.has(path)) {
    const document = files.kindOf(path) === 'file' ? parseJson(files.read(path).toString()) : undefined;
    manifests.set(path, isJsonObject(document) ? document : document === undefined ? undefined : {});
  }
  return manifests.get(path);
}

function findScope(lookup: Lookup, path: string): ReturnType<Resolver['findScope']> {
  for (const folder of foldersAbove(path)) {
    if (folder.endsWith(`${sep}node_modules`)) return undefined;
    const manifest = manifestOf(lookup, folder);
    if (manifest !== undefined) return { path: join(folder, 'package.json'), manifest };
  }
  return undefined;
}

function findPackage({ files }: Lookup, name: string, from: string): PackageFolder | undefined {
  for (const folder of [from, ...foldersAbove(from)]) {
    if (folder.endsWith(`${sep}node_modules`)) continue;
    const candidate = join(folder, 'node_modules', name);
    if (files.kindOf(candidate) === 'folder') return { name, folder: files.realPath(candidate) };
  }
  return undefined;
}

/** CommonJS also finds single files in node_modules. */
function findLoneFile(files: ModuleFiles, specifier: string, from: string): string | undefined {
  for (const folder of foldersAbove(from)) {
    const path = folder.endsWith(`${sep}node_modules`) ? undefined : asFile(files, join(folder, 'node_modules', specifier));
    if (path !== undefined) return path;
  }
  return undefined;
}

function exact(files: ModuleFiles, path: string): string | undefined {
  return files.kindOf(path) === 'file' ? path : undefined;
}

function asFile(files: ModuleFiles, path: string): string | undefined {
  return ENDINGS.map(ending => path + ending).find(at => files.kindOf(at) === 'file');
}

function asIndex(files: ModuleFiles, folder: string): string | undefined {
  return asFile(files, join(folder, 'index.js')) ?? asFile(files, join(folder, 'index'));
}

function asFolder(lookup: Lookup, folder: string): string | undefined {
  const { files } = lookup;
  if (files.kindOf(folder) !== 'folder') return undefined;
  const main = manifestOf(lookup, folder)?.main;
  const at = typeof main === 'string' ? resolve(folder, main) : undefined;
  return (at === undefined ? undefined : (asFile(files, at) ?? asIndex(files, at))) ?? asIndex(files, folder);
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

/** Returns the parent folders of a path, the nearest first. */
function foldersAbove(path: string): readonly string[] {
  const above: string[] = [];
  for (let at = path; dirname(at) !== at; at = dirname(at)) above.push(dirname(at));
  return above;
}
