/** Which digest stands for the code of a plugin or part? The closure of its module; the build writes a table for built-in ones. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { digestJson, parseDigest } from '../../base/digest.js';
import { isJsonObject, type Json, parseJson } from '../../base/json.js';
import { EngineError } from '../model/engine-error.js';
import { findDifferent, looksTheSame, NO_SIGHTS, type Sights } from '../store/files/sights.js';
import type { FileLook } from '../store/files/stamp.js';
import { isRacy, lookAt, stampOf } from '../store/files/stamp.js';
import type { StampedCode, State } from '../store/state-log.js';
import type { ModuleGraph } from './module-graph.js';

/** What the context offers and can change bytes: part of every plugin's code. Relative to the install root. */
const STAGE_RUNTIME = ['src/stage/random.js'];

export const CODE_TABLE = 'code-digests.json';

/** The code of a plugin or a part, as it was when it was looked at. */
export interface PinnedCode {
  readonly modulePath: string;
  readonly digest: Digest;
  /** How everything looked that the digest depends on. */
  readonly sights: Sights;
  /** 'racy': a change since may not show in the sights. */
  readonly proof: 'settled' | 'racy';
}

export interface CodeDigests {
  /** The code where a table or stamps prove it now; undefined where modules must be read. @throws EngineError `installation-changed`. */
  find(modulePath: string): PinnedCode | undefined;
  /** The code, read where necessary. @throws EngineError `plugin-module`, `installation-changed`. */
  read(modulePath: string): Promise<PinnedCode>;
  /** The first file that is not as it was when the code was pinned. */
  findChanged(code: PinnedCode): Promise<string | undefined>;
  /** What the digest is of: modules and packages, read now. @throws EngineError `plugin-module`. */
  describe(modulePath: string): Promise<Json>;
}

/** @param remember keeps the digest of a third party's module for later builds. */
export function createCodeDigests(
  installRoot: string,
  state: Pick<State, 'code'>,
  remember: (modulePath: string, code: StampedCode) => void,
): CodeDigests {
  /** Of this installation's own modules, where no table has them: they stand in no state. */
  const own = new Map<string, StampedCode>();
  const walk = async (modulePath: string): Promise<PinnedCode> => {
    const seen = new Map<string, FileLook | undefined>();
    const see = (path: string): void => {
      if (!seen.has(path)) seen.set(path, lookAt(path));
    };
    const { createModuleGraph } = await import('./module-graph.js');
    const takenMs = Date.now();
    const graph = await createModuleGraph(path => {
      see(path);
      return readFileSync(path);
    });
    const digest = closureDigest(graph, modulePath, installRoot);
    for (const path of graph.packageFiles) see(path);
    const followed = [...seen].flatMap(([path, look]) => [path, look?.stamp ?? '']);
    const isSettled = [...seen.values()].every(look => look === undefined || !isRacy(look, takenMs));
    return { modulePath, digest, sights: { ...NO_SIGHTS, followed }, proof: isSettled ? 'settled' : 'racy' };
  };
  const find = (modulePath: string): PinnedCode | undefined => {
    const table = tableOf(installRoot);
    const listed = table.digests.get(toTablePath(installRoot, modulePath));
    if (listed !== undefined) {
      if (!looksTheSame(table.sights, '')) throw installationChanged();
      return { modulePath, digest: listed, sights: table.sights, proof: 'settled' };
    }
    const kept = own.get(modulePath) ?? state.code.get(modulePath);
    if (kept === undefined || !looksTheSame(kept.sights, '')) return undefined;
    return { modulePath, ...kept, proof: 'settled' };
  };
  return {
    find,
    async read(modulePath) {
      const found = find(modulePath);
      if (found !== undefined) return found;
      const code = await walk(modulePath);
      const { digest, sights } = code;
      if (code.proof === 'racy') return code;
      if (isInside(installRoot, modulePath)) own.set(modulePath, { digest, sights });
      else remember(modulePath, { digest, sights });
      return code;
    },
    async findChanged({ modulePath, sights, digest, proof }) {
      const different = findDifferent(sights, '');
      if (different !== undefined || proof === 'settled') return different;
      return (await walk(modulePath)).digest === digest ? undefined : modulePath;
    },
    async describe(modulePath) {
      const { createModuleGraph } = await import('./module-graph.js');
      return describeCode(await createModuleGraph(), modulePath, installRoot);
    },
  };
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

interface Table {
  readonly digests: ReadonlyMap<string, Digest>;
  readonly sights: Sights;
}

/** Each is read once per process: the engine and the plugins in its process are of that moment too. */
const tables = new Map<string, Table>();

function tableOf(installRoot: string): Table {
  const known = tables.get(installRoot);
  if (known !== undefined) return known;
  const sights = seeCode(installRoot);
  const table = { digests: readTable(installRoot), sights };
  tables.set(installRoot, table);
  return table;
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

function installationChanged(): EngineError {
  return new EngineError('installation-changed', 'this installation of Tanren was rebuilt or updated while it ran', {
    help: 'start the command again: it then runs the new code',
  });
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
