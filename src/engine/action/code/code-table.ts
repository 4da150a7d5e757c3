/** The table of code digests of Tanren's own modules. The build of Tanren writes it, so that no pipeline build has to read these modules. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Digest } from '../../../base/digest.js';
import { parseDigest } from '../../../base/digest.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../base/json.js';
import { areUnchanged, NO_STAMPS, type RecordedStamps } from '../../store/files/recorded-stamps.js';
import { stampOf, statPath } from '../../store/files/stamp.js';
import { closureDigest, slashed } from './describe-code.js';
import type { ModuleGraph } from './module-graph.js';
import type { PinnedCode } from './pinned-code.js';

export const CODE_TABLE = 'code-digests.json';

/** Folder of the workers' bundles under the install root. The build of Tanren makes them from the modules that the table lists. */
const BUNDLES = 'workers';

/** Returns the bundle of a worker with the plugin of the module `stages/NAME/stage.js`. */
export function bundlePath(installRoot: string, modulePath: string): string {
  return join(installRoot, BUNDLES, `${basename(dirname(modulePath))}.cjs`);
}

/** Returns the main module of a worker that contains the plugin; undefined if the code was read from modules, which may be newer than the bundle. */
export function findBundle(installRoot: string, { root, modules }: PinnedCode): string | undefined {
  if (modules !== undefined) return undefined;
  const path = bundlePath(installRoot, root.modulePath);
  return existsSync(path) ? path : undefined;
}

/**
 * Returns the table's text: every module under the install root's `src` and `stages`, with the digest of its closure.
 * The digests depend on the versions of installed packages, so the table lists these versions too. With other installed versions the table is not used.
 */
export function encodeCodeTable(graph: ModuleGraph, modulePaths: readonly string[], installRoot: string): string {
  const rows = modulePaths.map(path => [toTablePath(installRoot, path), closureDigest(graph, path, installRoot)] as const);
  const modules = Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
  const packages = readSource(installRoot).versions;
  return `${JSON.stringify({ packages, modules }, null, 1)}\n`;
}

/** Returns the stamps of the files that show whether the code is unchanged. */
export function stampInstallation(installRoot: string): RecordedStamps {
  const packages = ownDependencies(installRoot).flatMap(name => findPackageFile(name, installRoot) ?? []);
  return { ...NO_STAMPS, followed: [...tableFiles(installRoot), ...packages].flatMap(path => [path, stampOf(path)]) };
}

export interface CodeTable {
  readonly digests: ReadonlyMap<string, Digest>;
  readonly stamps: RecordedStamps;
  /** Everything that the digests were read from. */
  readonly source: TableSource;
}

/** Each table is read once per process, because the loaded code of the engine and of in-process plugins is from that time too. */
const tables = new Map<string, CodeTable>();

export function tableOf(installRoot: string): CodeTable {
  const known = tables.get(installRoot);
  if (known !== undefined) return known;
  const stamps = stampInstallation(installRoot);
  const source = readSource(installRoot);
  const table = { digests: digestsOf(source), stamps, source };
  tables.set(installRoot, table);
  return table;
}

/**
 * Whether the table still describes the installation. Its files may get other stamps without a change, for example when a package manager or a backup
 * makes hard links to them: then they are read again, and the table gets the new stamps.
 */
export function isTableCurrent(installRoot: string): boolean {
  const known = tableOf(installRoot);
  if (areUnchanged(known.stamps, '')) return true;
  const stamps = stampInstallation(installRoot);
  if (!isDeepStrictEqual(readSource(installRoot), known.source)) return false;
  tables.set(installRoot, { ...known, stamps });
  return true;
}

export function toTablePath(installRoot: string, path: string): string {
  return slashed(relative(installRoot, path));
}

/** The table, and a file that the compiler writes when it runs. */
function tableFiles(installRoot: string): readonly [string, string] {
  return [join(installRoot, CODE_TABLE), join(installRoot, '.tsbuildinfo')];
}

/** What a table is read from. */
interface TableSource {
  /** Undefined if there is no table, or if the compiler ran after it was written. */
  readonly text: string | undefined;
  /** The installed versions of Tanren's own dependencies. */
  readonly versions: Readonly<Record<string, Json>>;
}

function readSource(installRoot: string): TableSource {
  const [path, compilerFile] = tableFiles(installRoot);
  const written = statPath(path);
  const compiled = statPath(compilerFile);
  const isOutdated = written === undefined || (compiled !== undefined && compiled.modifiedMs > written.modifiedMs);
  return {
    text: isOutdated ? undefined : readFileSync(path, 'utf8'),
    versions: Object.fromEntries(ownDependencies(installRoot).map(name => [name, installedVersion(name, installRoot) ?? null])),
  };
}

/** Empty if there is no valid table, or if other package versions are installed than those it lists. */
function digestsOf({ text, versions }: TableSource): ReadonlyMap<string, Digest> {
  const document = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(document) || !isJsonObject(document.modules) || !isJsonObject(document.packages)) return new Map();
  if (!Object.entries(document.packages).every(([name, version]) => (versions[name] ?? null) === version)) return new Map();
  return new Map(
    Object.entries(document.modules).flatMap(([module, value]) => {
      const digest = parseDigest(value);
      return digest === undefined ? [] : [[module, digest] as const];
    }),
  );
}

/** Returns the names of the packages that Tanren itself depends on. */
function ownDependencies(installRoot: string): readonly string[] {
  const dependencies = readManifest(join(dirname(installRoot), 'package.json'))?.dependencies;
  return isJsonObject(dependencies) ? Object.keys(dependencies).sort() : [];
}

/** The version that the manifest of an installed package states now. */
export function installedVersion(name: string, installRoot: string): Json | undefined {
  const file = findPackageFile(name, installRoot);
  return file === undefined ? undefined : readManifest(file)?.version;
}

/** Finds the package as Node does: in the nearest node_modules of the folder or its parents. */
function findPackageFile(name: string, installRoot: string): string | undefined {
  for (let folder = installRoot; ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', name, 'package.json');
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

function readManifest(path: string): JsonObject | undefined {
  const manifest = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : undefined;
  return isJsonObject(manifest) ? manifest : undefined;
}
