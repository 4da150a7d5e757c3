/** The table of code digests that the build of Tanren writes for its own modules, so that no build of a pipeline has to read them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import { parseDigest } from '../../../base/digest.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../base/json.js';
import { NO_SIGHTS, type Sights } from '../../store/files/sights.js';
import { lookAt, stampOf } from '../../store/files/stamp.js';
import { closureDigest, slashed } from './describe-code.js';
import type { ModuleGraph } from './module-graph.js';

export const CODE_TABLE = 'code-digests.json';

/**
 * The table's text: every module under the install root's `src` and `stages`, with its closure's digest.
 * The digests name the versions of installed packages, so the table names them too: where others are installed, it does not count.
 */
export function encodeCodeTable(graph: ModuleGraph, modulePaths: readonly string[], installRoot: string): string {
  const rows = modulePaths.map(path => [toTablePath(installRoot, path), closureDigest(graph, path, installRoot)] as const);
  const modules = Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
  const packages = Object.fromEntries(ownDependencies(installRoot).map(name => [name, installedVersion(name, installRoot) ?? null]));
  return `${JSON.stringify({ packages, modules }, null, 1)}\n`;
}

/** How the files look that say whether this is the code that it was. */
export function seeCode(installRoot: string): Sights {
  const packages = ownDependencies(installRoot).flatMap(name => findPackageFile(name, installRoot) ?? []);
  return { ...NO_SIGHTS, followed: [...tableFiles(installRoot), ...packages].flatMap(path => [path, stampOf(path)]) };
}

export interface CodeTable {
  readonly digests: ReadonlyMap<string, Digest>;
  readonly sights: Sights;
}

/** Each is read once per process: the engine and the plugins in its process are of that moment too. */
const tables = new Map<string, CodeTable>();

export function tableOf(installRoot: string): CodeTable {
  const known = tables.get(installRoot);
  if (known !== undefined) return known;
  const sights = seeCode(installRoot);
  const table = { digests: readTable(installRoot), sights };
  tables.set(installRoot, table);
  return table;
}

export function toTablePath(installRoot: string, path: string): string {
  return slashed(relative(installRoot, path));
}

/** The table, and what the compiler writes when it runs. */
function tableFiles(installRoot: string): readonly [string, string] {
  return [join(installRoot, CODE_TABLE), join(installRoot, '.tsbuildinfo')];
}

/** Empty where there is no table, where the compiler ran after it was written, or where other packages are installed than those it was written with. */
function readTable(installRoot: string): ReadonlyMap<string, Digest> {
  const [path, compilerFile] = tableFiles(installRoot);
  const written = lookAt(path);
  const compiled = lookAt(compilerFile);
  if (written === undefined || (compiled !== undefined && compiled.modifiedMs > written.modifiedMs)) return new Map();
  const document = parseJson(readFileSync(path, 'utf8'));
  if (!isJsonObject(document) || !isJsonObject(document.modules) || !isJsonObject(document.packages)) return new Map();
  if (!Object.entries(document.packages).every(([name, version]) => (installedVersion(name, installRoot) ?? null) === version))
    return new Map();
  return new Map(
    Object.entries(document.modules).flatMap(([module, value]) => {
      const digest = parseDigest(value);
      return digest === undefined ? [] : [[module, digest] as const];
    }),
  );
}

/** Names of the packages that Tanren itself depends on. */
function ownDependencies(installRoot: string): readonly string[] {
  const dependencies = readManifest(join(dirname(installRoot), 'package.json'))?.dependencies;
  return isJsonObject(dependencies) ? Object.keys(dependencies).sort() : [];
}

function installedVersion(name: string, installRoot: string): Json | undefined {
  const file = findPackageFile(name, installRoot);
  return file === undefined ? undefined : readManifest(file)?.version;
}

/** As Node finds the package: in the nearest node_modules upwards. */
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
