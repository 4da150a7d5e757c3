/** Which digest stands for the code of a plugin or part? The closure of its module; the build writes a table for built-in ones. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { digestJson, parseDigest } from '../../base/digest.js';
import { isJsonObject, type Json } from '../../base/json.js';
import { NO_SIGHTS, type Sights } from '../store/files/sights.js';
import type { FileLook, Stamp } from '../store/files/stamp.js';
import { isRacy, lookAt, stampOf } from '../store/files/stamp.js';
import { parseJson } from '../store/files/tree.js';
import type { StampedCode, State } from '../store/state-log.js';
import type { ModuleGraph } from './module-graph.js';

/** What the context offers and can change bytes: part of every plugin's code. Relative to the install root. */
const STAGE_RUNTIME = ['src/stage/random.js'];

export const CODE_TABLE = 'code-digests.json';

export interface CodeDigests {
  /** The digest where a table or stamps know it; undefined where modules must be read. */
  find(modulePath: string): Digest | undefined;
  /** @throws EngineError `plugin-module`. */
  compute(modulePath: string): Promise<Digest>;
  /** What the digest is of: modules and packages, read now. @throws EngineError `plugin-module`. */
  describe(modulePath: string): Promise<Json>;
}

/** @param remember keeps the digest of a third party's module for later builds. */
export function createCodeDigests(
  installRoot: string,
  state: Pick<State, 'code'>,
  remember: (modulePath: string, code: StampedCode) => void,
): CodeDigests {
  let table: ReadonlyMap<string, Digest> | undefined;
  const computed = new Map<string, Digest>();
  const find = (modulePath: string): Digest | undefined => {
    const known = computed.get(modulePath);
    if (known !== undefined) return known;
    table ??= readTable(installRoot);
    const digest = table.get(toTablePath(installRoot, modulePath)) ?? findStamped(state.code.get(modulePath));
    if (digest !== undefined) computed.set(modulePath, digest);
    return digest;
  };
  return {
    find,
    async compute(modulePath) {
      const found = find(modulePath);
      if (found !== undefined) return found;
      const looks = new Map<string, FileLook>();
      const { createModuleGraph } = await import('./module-graph.js');
      const graph = await createModuleGraph(path => {
        noteLook(looks, path);
        return readFileSync(path);
      });
      const digest = closureDigest(graph, modulePath, installRoot);
      computed.set(modulePath, digest);
      for (const path of graph.packageFiles) noteLook(looks, path);
      const settled = [...looks.values()].every(look => !isRacy(look, Date.now()));
      if (settled && !isInside(installRoot, modulePath)) {
        remember(modulePath, { files: Object.fromEntries([...looks].map(([path, look]) => [path, look.stamp])), digest });
      }
      return digest;
    },
    async describe(modulePath) {
      const { createModuleGraph } = await import('./module-graph.js');
      return describeCode(await createModuleGraph(), modulePath, installRoot);
    },
  };
}

function noteLook(looks: Map<string, FileLook>, path: string): void {
  const look = lookAt(path);
  if (look !== undefined) looks.set(path, look);
}

/** The digest of all that a module reaches, by paths relative to the install root (built-in) or to its own folder (third parties). */
export function closureDigest(graph: ModuleGraph, modulePath: string, installRoot: string): Digest {
  return digestJson(describeCode(graph, modulePath, installRoot));
}

function describeCode(graph: ModuleGraph, modulePath: string, installRoot: string): Json {
  const own = isInside(installRoot, modulePath) ? installRoot : dirname(modulePath);
  return {
    module: describeClosure(graph, modulePath, own),
    runtime: STAGE_RUNTIME.map(path => describeClosure(graph, join(installRoot, path), installRoot)),
  };
}

function describeClosure(graph: ModuleGraph, modulePath: string, base: string) {
  const modules = graph.closureOf(modulePath);
  return {
    modules: modules.map(({ path, digest }) => [slashed(relative(base, path)), digest] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
    packages: [...new Set(modules.flatMap(module => module.packages))].sort(),
  };
}

/** The table's text: every module under the install root's `src` and `stages`, with its closure's digest. */
export function encodeCodeTable(graph: ModuleGraph, modulePaths: readonly string[], installRoot: string): string {
  const rows = modulePaths.map(path => [toTablePath(installRoot, path), closureDigest(graph, path, installRoot)] as const);
  return `${JSON.stringify(Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1))), null, 1)}\n`;
}

/** How the files look that say whether this is the code that it was. */
export function seeCode(installRoot: string): Sights {
  return { ...NO_SIGHTS, followed: tableFiles(installRoot).flatMap(path => [path, stampOf(path)]) };
}

/** The table, and what the compiler writes when it runs. */
function tableFiles(installRoot: string): readonly [string, string] {
  return [join(installRoot, CODE_TABLE), join(installRoot, '.tsbuildinfo')];
}

/** Empty where there is no table, or where the compiler ran after it was written. */
function readTable(installRoot: string): ReadonlyMap<string, Digest> {
  const [path, compilerFile] = tableFiles(installRoot);
  const written = lookAt(path);
  const compiled = lookAt(compilerFile);
  if (written === undefined || (compiled !== undefined && compiled.modifiedMs > written.modifiedMs)) return new Map();
  const document = parseJson(readFileSync(path, 'utf8'));
  if (!isJsonObject(document)) return new Map();
  return new Map(
    Object.entries(document).flatMap(([module, value]) => {
      const digest = parseDigest(value);
      return digest === undefined ? [] : [[module, digest] as const];
    }),
  );
}

function findStamped(code: StampedCode | undefined): Digest | undefined {
  if (code === undefined) return undefined;
  return Object.entries(code.files).every(([path, stamp]: [string, Stamp]) => lookAt(path)?.stamp === stamp) ? code.digest : undefined;
}

function toTablePath(installRoot: string, path: string): string {
  return slashed(relative(installRoot, path));
}

function isInside(folder: string, path: string): boolean {
  const inner = relative(folder, path);
  return !inner.startsWith('..') && !isAbsolute(inner);
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
