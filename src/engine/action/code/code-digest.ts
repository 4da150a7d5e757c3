/** Which digest stands for the code of a plugin or part? The closure of its module; the build writes a table for built-in ones. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { encodeCanonicalJson } from '../../../base/canonical-json.js';
import type { Digest } from '../../../base/digest.js';
import { digestJson, parseDigest } from '../../../base/digest.js';
import { isJsonObject, type Json, parseJson } from '../../../base/json.js';
import { EngineError, messageOf } from '../../model/engine-error.js';
import { findDifferent, looksTheSame, NO_SIGHTS, type Sights } from '../../store/files/sights.js';
import { lookAt, stampOf } from '../../store/files/stamp.js';
import type { StampedCode, State } from '../../store/state-log.js';
import { describeCode, isInside, slashed } from './describe-code.js';
import type { ModuleGraph } from './module-graph.js';
import type { CodeRoot, PinnedCode } from './pinned-code.js';

export const CODE_TABLE = 'code-digests.json';

export interface CodeDigests {
  /** The code where a table or stamps prove it now; undefined where modules must be read. @throws EngineError `installation-changed`. */
  find(root: CodeRoot): PinnedCode | undefined;
  /** The code, read where necessary. @throws EngineError `plugin-module`, `installation-changed`. */
  read(root: CodeRoot): Promise<PinnedCode>;
  /** The first file that is not as it was when the code was pinned. */
  findChanged(code: PinnedCode): Promise<string | undefined>;
  /** What the digest is of: modules and packages, read now. @throws EngineError `plugin-module`. */
  describe(root: CodeRoot): Promise<Json>;
}

/** @param remember keeps the digest of a third party's module for later builds. */
export function createCodeDigests(
  installRoot: string,
  state: Pick<State, 'code'>,
  remember: (name: string, code: StampedCode) => void,
): CodeDigests {
  /** Of this installation's own modules, where no table has them: they stand in no state. */
  const own = new Map<string, StampedCode>();
  const find = (root: CodeRoot): PinnedCode | undefined => {
    const table = tableOf(installRoot);
    const listed = table.digests.get(toTablePath(installRoot, root.modulePath));
    if (listed !== undefined) {
      if (!looksTheSame(table.sights, '')) throw installationChanged();
      return { root, digest: listed, sights: table.sights, proof: 'settled', modules: undefined };
    }
    const kept = own.get(nameOf(root)) ?? state.code.get(nameOf(root));
    if (kept === undefined || !looksTheSame(kept.sights, '')) return undefined;
    return { root, ...kept, proof: 'settled' };
  };
  return {
    find,
    async read(root) {
      const found = find(root);
      if (found !== undefined) return found;
      const { readCode } = await import('./read-code.js');
      const code = await readCode(root, installRoot);
      const { digest, sights, modules } = code;
      if (code.proof === 'racy' || modules === undefined) return code;
      if (isInside(installRoot, root.modulePath)) own.set(nameOf(root), { digest, sights, modules });
      else remember(nameOf(root), { digest, sights, modules });
      return code;
    },
    async findChanged({ root, sights, digest, proof }) {
      const different = findDifference(sights);
      if (different !== undefined || proof === 'settled') return different;
      const { readCode } = await import('./read-code.js');
      return (await readCode(root, installRoot)).digest === digest ? undefined : root.modulePath;
    },
    async describe(root) {
      const { createModuleGraph } = await import('./module-graph.js');
      return describeCode(await createModuleGraph(), root, installRoot);
    },
  };
}

function nameOf({ modulePath, reads, pluginPath }: CodeRoot): string {
  return reads.length === 0 ? modulePath : encodeCanonicalJson({ modulePath, reads, pluginPath });
}

/** A folder that is gone, and what may not be looked at any more, has changed. */
function findDifference(sights: Sights): string | undefined {
  try {
    return findDifferent(sights, '');
  } catch (error) {
    return messageOf(error);
  }
}

/** The digest of all that a module reaches, by paths relative to the install root (built-in) or to its own folder (third parties). */
export function closureDigest(graph: ModuleGraph, modulePath: string, installRoot: string): Digest {
  return digestJson(describeCode(graph, { modulePath, reads: [], pluginPath: modulePath }, installRoot));
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
