/** The graph of modules and packages that a module reaches: everything it imports, requires or names as a file beside it, and what these reach. */
import { readFileSync, realpathSync } from 'node:fs';
import { extname, join } from 'node:path';
import { init } from 'es-module-lexer';
import type { Digest } from '../../../base/digest.js';
import { digestBytes } from '../../../base/digest.js';
import { EngineError, messageOf } from '../../model/engine-error.js';
import { statPath } from '../../store/files/stamp.js';
import { walkFolder } from '../../store/files/tree.js';
import { findSpecifiers, type NamedFile, type NamedFiles } from './find-specifiers.js';
import { locateRead } from './pinned-code.js';
import { createResolver, isInstalled, type ModuleFiles, type PackageFolder, type Resolver } from './resolve-module.js';

export interface Module {
  /** Real path, without links. */
  readonly path: string;
  readonly digest: Digest;
  /** Paths of the modules that it imports and of the files that it names. */
  readonly imports: readonly string[];
  /** Installed packages that it imports, as "name@version", with their dependencies. */
  readonly packages: readonly string[];
  /** Folders of the installed packages that it imports directly. */
  readonly packageFolders: readonly string[];
  /** Packages that it imports by name and that are linked, not installed. Their modules are in `imports`. */
  readonly linked: readonly PackageFolder[];
  /** 'computed': it may import files that no literal in it names. 'unknown': it is not JavaScript. */
  readonly loads: NamedFiles['imports'];
}

export interface ModuleGraph {
  /**
   * Returns the module itself first, then everything it reaches.
   * @param further absolute paths of files and folders that also belong to it.
   * @throws EngineError `plugin-module`.
   */
  closureOf(path: string, further?: readonly string[]): readonly Module[];
  /** Returns the package.json that determines how a module is read and what its specifiers mean. */
  findScope: Resolver['findScope'];
  resolve: Resolver['resolve'];
  /** Returns the real paths of the entries of `reads`. @throws EngineError `plugin-module`. */
  resolveReads(path: string, reads: readonly string[]): readonly string[];
}

const FILES: ModuleFiles = {
  kindOf(path) {
    const kind = statPath(path)?.kind;
    return kind === 'file' || kind === 'folder' ? kind : undefined;
  },
  read: path => readFileSync(path),
  realPath: path => realpathSync.native(path),
};

/** @param files file access; tests replace parts of it. */
export async function createModuleGraph(files: Partial<ModuleFiles> = {}): Promise<ModuleGraph> {
  await init;
  const all = { ...FILES, ...files };
  const resolver = createResolver(all);
  const modules = new Map<string, Module>();
  const getModule = (path: string): Module => {
    const known = modules.get(path) ?? readOne(path, all, resolver);
    modules.set(path, known);
    return known;
  };
  const realOf = (path: string): string => {
    if (all.kindOf(path) !== 'file') throw unreadable(path, new Error('no such file'));
    return all.realPath(path);
  };
  const resolveReads: ModuleGraph['resolveReads'] = (path, reads) => reads.map(one => resolveRead(one, realOf(path), all));
  return {
    findScope: resolver.findScope,
    resolve: resolver.resolve,
    resolveReads,
    closureOf(path, further = []) {
      const found = new Map<string, Module>();
      const main = realOf(path);
      if (getModule(main).loads === 'unknown') throw new EngineError('plugin-module', `module ${path} is not JavaScript`);
      const queue = [...further.flatMap(one => filesIn(one, all)), main];
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        if (found.has(next)) continue;
        const module = getModule(next);
        found.set(next, module);
        queue.push(...module.imports);
      }
      return [...found.values()];
    },
  };
}

function readOne(path: string, files: ModuleFiles, resolver: Resolver): Module {
  const content = readOrThrow(path, files);
  const imports = new Set<string>();
  const packages = new Set<string>();
  const folders = new Set<string>();
  const linked = new Map<string, PackageFolder>();
  const named = findNamed(path, content);
  for (const file of named.files) {
    const resolved = resolver.resolve(file.specifier, path, file.how);
    if (resolved.kind === 'module') {
      imports.add(resolved.path);
      if (resolved.linked !== undefined) linked.set(resolved.linked.folder, resolved.linked);
    } else if (resolved.kind === 'installed') {
      folders.add(resolved.package.folder);
      const { names, modules } = describePackage(resolved.package, resolver);
      for (const one of names) packages.add(one);
      for (const one of modules) {
        imports.add(one.path);
        linked.set(one.linked.folder, one.linked);
      }
    } else if (resolved.kind === 'missing') noteMissing(file, path, packages);
  }
  return {
    path,
    digest: digestBytes(content),
    imports: [...imports],
    packages: [...packages].sort(),
    packageFolders: [...folders],
    linked: [...linked.values()],
    loads: named.imports,
  };
}

/** A larger file is treated as data. It is not searched for specifiers. */
const MOST_SCRIPT_BYTES = 64 << 20;

/** `require` treats a file with any other extension as JavaScript too. Its imports are in no digest and may not be loaded. */
function findNamed(path: string, content: Buffer | string): NamedFiles {
  const ending = extname(path);
  if (content.length > MOST_SCRIPT_BYTES) return { files: [], imports: ending === '.json' ? 'named' : 'computed' };
  if (ending === '' || /^\.[cm]?[jt]s$/.test(ending)) return findSpecifiers(path, content.toString());
  const mayImport = ending !== '.json' && content.includes('import') && /\bimport\s*[(/]/.test(content.toString());
  return { files: [], imports: mayImport ? 'computed' : 'named' };
}

/** @throws EngineError `plugin-module` if the module does not load without the file. */
function noteMissing({ specifier, need }: NamedFile, path: string, packages: Set<string>): void {
  if (need === 'may') return;
  if (/^[./#]/.test(specifier) || specifier.startsWith('file:')) {
    throw new EngineError('plugin-module', `module ${path} imports "${specifier}", which does not exist`, {
      help: 'correct the path in the module',
    });
  }
  packages.add(`${specifier}@?`);
}

function readOrThrow(path: string, { read }: ModuleFiles): Buffer | string {
  try {
    return read(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): EngineError {
  return new EngineError('plugin-module', `module ${path} cannot be read: ${messageOf(error)}`, { cause: error });
}

interface InstalledPackage {
  readonly names: readonly string[];
  readonly modules: readonly { readonly path: string; readonly linked: PackageFolder }[];
}

/**
 * Returns "name@version" of an installed package and of all its dependencies. For linked dependencies, returns their modules.
 * Platform packages are pinned by the version of their parent.
 */
function describePackage(root: PackageFolder, { manifestOf, findPackage, resolve }: Resolver): InstalledPackage {
  const found = new Map<string, string>();
  const modules: InstalledPackage['modules'][number][] = [];
  const visit = ({ name, folder }: PackageFolder): void => {
    if (found.has(folder)) return;
    const manifest = manifestOf(folder);
    found.set(folder, `${name}@${typeof manifest?.version === 'string' ? manifest.version : '?'}`);
    for (const dependency of Object.keys(Object(manifest?.dependencies))) {
      const inner = findPackage(dependency, folder);
      if (inner === undefined) found.set(`${folder} ${dependency}`, `${dependency}@?`);
      else if (isInstalled(inner.folder)) visit(inner);
      else {
        const main = (['import', 'require'] as const).map(how => resolve(dependency, join(folder, 'package.json'), how));
        for (const one of main) if (one.kind === 'module') modules.push({ path: one.path, linked: inner });
      }
    }
  };
  visit(root);
  return { names: [...found.values()], modules };
}

function resolveRead(read: string, from: string, { kindOf, realPath }: ModuleFiles): string {
  const path = locateRead(read, from);
  if (kindOf(path) !== undefined) return realPath(path);
  throw new EngineError('plugin-module', `module ${from} declares in \`reads\` "${read}", which is neither a file nor a folder`, {
    help: 'correct the path: it is relative to the module',
  });
}

function filesIn(path: string, { kindOf }: ModuleFiles): readonly string[] {
  if (kindOf(path) === 'file') return [path];
  return walkFolder(path, 'follow').flatMap(entry => (entry.kind === 'file' ? [join(path, entry.path)] : []));
}
