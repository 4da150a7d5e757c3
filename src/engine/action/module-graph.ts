/** Which modules and packages does a module reach by import? Read from the JavaScript as Node runs it, where type imports are gone. */
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { init, parse } from 'es-module-lexer';
import type { Digest } from '../../base/digest.js';
import { digestBytes } from '../../base/digest.js';
import { isJsonObject } from '../../base/json.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import { lookAt } from '../store/files/stamp.js';

export interface Module {
  readonly path: string;
  readonly digest: Digest;
  /** Absolute paths of modules it imports. */
  readonly imports: readonly string[];
  /** Of packages it imports: "name@version", with their dependencies. */
  readonly packages: readonly string[];
}

export interface ModuleGraph {
  /** The module and all it reaches, itself first. @throws EngineError `plugin-module`. */
  closureOf(path: string): readonly Module[];
  /** The package.json files that were read. */
  readonly packageFiles: ReadonlySet<string>;
}

/** @param readModule gives a module's text; tests pass changed ones. */
export async function createModuleGraph(readModule: (path: string) => Buffer | string = path => readFileSync(path)): Promise<ModuleGraph> {
  await init;
  const modules = new Map<string, Module>();
  const packageFiles = new Set<string>();
  const getModule = (path: string): Module => {
    const known = modules.get(path);
    if (known !== undefined) return known;
    const module = readOne(path, readModule, packageFiles);
    modules.set(path, module);
    return module;
  };
  return {
    packageFiles,
    closureOf(path) {
      const found = new Map<string, Module>();
      const queue = [path];
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

function readOne(path: string, readModule: (path: string) => Buffer | string, packageFiles: Set<string>): Module {
  const content = readOrThrow(path, readModule);
  const imports: string[] = [];
  const packages: string[] = [];
  for (const specifier of /\.[cm]?js$/.test(path) ? findSpecifiers(path, content.toString()) : []) {
    if (specifier.startsWith('.') || specifier.startsWith('/')) imports.push(resolve(dirname(path), specifier.replace(/[?#].*$/, '')));
    else if (!isBuiltin(specifier)) packages.push(...describePackage(specifier, dirname(path), packageFiles));
  }
  return { path, digest: digestBytes(content), imports: [...new Set(imports)], packages: [...new Set(packages)].sort() };
}

function readOrThrow(path: string, readModule: (path: string) => Buffer | string): Buffer | string {
  try {
    return readModule(path);
  } catch (error) {
    throw new EngineError('plugin-module', `module ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Static imports and re-exports, and dynamic imports with a literal; in CommonJS, requires with a literal. */
function findSpecifiers(path: string, text: string): readonly string[] {
  try {
    const [imports, , , hasModuleSyntax] = parse(text, path);
    const specifiers = imports.flatMap(found =>
      found.type === 'import-meta' || (found.type === 'dynamic' && found.glob) ? [] : [found.specifier ?? []].flat(),
    );
    return [...specifiers, ...(hasModuleSyntax ? findAssets(path, text) : findRequires(path, text))];
  } catch (error) {
    throw new EngineError('plugin-module', `module ${path} is not JavaScript: ${messageOf(error)}`, { cause: error });
  }
}

/** Files that a module reads from beside itself: `new URL('./x', import.meta.url)` with a literal. */
function findAssets(path: string, text: string): readonly string[] {
  const found = [...text.matchAll(/\bnew URL\(\s*['"](\.{1,2}\/[^'"]+)['"],\s*import\.meta\.url\s*\)/g)].map(match => match[1] ?? '');
  return found.filter(specifier => lookAt(resolve(dirname(path), specifier))?.kind === 'file');
}

/** A `require` in a comment or string may name no file: only what is there counts. */
function findRequires(path: string, text: string): readonly string[] {
  const found = [...text.matchAll(/\brequire\(\s*['"]([^'"]+)['"]\s*\)/g)].map(match => match[1] ?? '');
  return found.filter(specifier => !specifier.startsWith('.') || existsSync(resolve(dirname(path), specifier)));
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

/** "name@version" of the package that a bare specifier names, and of all it depends on. Platform packages are pinned by their parent's version. */
function describePackage(specifier: string, from: string, packageFiles: Set<string>): readonly string[] {
  const parts = specifier.split('/');
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
  const found = new Map<string, string>();
  const visit = (wanted: string, folder: string): void => {
    const file = findPackageFile(wanted, folder);
    if (file === undefined) {
      found.set(`${wanted}@?`, `${wanted}@?`);
      return;
    }
    if (found.has(file)) return;
    packageFiles.add(file);
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const { version, dependencies } = manifest as { version?: unknown; dependencies?: unknown };
    found.set(file, `${wanted}@${String(version)}`);
    const names = typeof dependencies === 'object' && dependencies !== null ? Object.keys(dependencies) : [];
    for (const dependency of names) visit(dependency, dirname(file));
  };
  visit(name, from);
  return [...new Set(found.values())].sort();
}

function findPackageFile(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', name, 'package.json');
    if (existsSync(file)) return file;
    const own = join(folder, 'package.json');
    if (existsSync(own) && ownName(own) === name) return own;
    if (dirname(folder) === folder) return undefined;
  }
}

function ownName(file: string): string | undefined {
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  return isJsonObject(manifest) && typeof manifest.name === 'string' ? manifest.name : undefined;
}
