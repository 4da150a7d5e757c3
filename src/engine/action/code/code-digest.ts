/** Code digests of plugins and parts. Each covers all modules that the root reaches. It comes from the table of built-in modules, from stamps, or from the modules. */
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import type { Json } from '../../../base/json.js';
import { EngineError, messageOf } from '../../model/engine-error.js';
import { areUnchanged, findChangedPath, type RecordedStamps } from '../../store/files/recorded-stamps.js';
import type { StampedCode, State } from '../../store/state.js';
import { isTableCurrent, tableOf, toTablePath } from './code-table.js';
import { describeCode } from './describe-code.js';
import type { CodeRoot, PinnedCode } from './pinned-code.js';

export interface CodeDigests {
  /** Returns the code if a table or stamps prove it; undefined if modules must be read. @throws EngineError `installation-changed`. */
  find(root: CodeRoot): PinnedCode | undefined;
  /** Returns the code, and reads modules if necessary. @throws EngineError `plugin-module`, `installation-changed`. */
  read(root: CodeRoot): Promise<PinnedCode>;
  /** Returns the first file that has changed since the code was pinned. */
  findChanged(code: PinnedCode): Promise<string | undefined>;
  /** Returns the document behind the digest: modules and packages, read now. @throws EngineError `plugin-module`. */
  describe(root: CodeRoot): Promise<Json>;
}

/** @param remember stores the digest of a third-party module for later builds. */
export function createCodeDigests(
  installRoot: string,
  state: Pick<State, 'code'>,
  remember: (name: string, code: StampedCode) => void,
): CodeDigests {
  /** Code that this process has read. Needed because the process may not be allowed to write state. */
  const own = new Map<string, StampedCode>();
  const find = (root: CodeRoot): PinnedCode | undefined => {
    const listed = tableOf(installRoot).digests.get(toTablePath(installRoot, root.modulePath));
    if (listed !== undefined) {
      if (!isTableCurrent(installRoot)) throw installationChanged();
      return { root, digest: listed, stamps: tableOf(installRoot).stamps, proof: 'settled', modules: undefined };
    }
    const kept = own.get(nameOf(root)) ?? state.code.get(nameOf(root));
    if (kept === undefined || !areUnchanged(kept.stamps, '')) return undefined;
    return { root, ...kept, proof: 'settled' };
  };
  return {
    find,
    async read(root) {
      const found = find(root);
      if (found !== undefined) return found;
      const { readCode } = await import('./read-code.js');
      const code = await readCode(root, installRoot);
      const { digest, stamps, modules } = code;
      if (code.proof === 'racy' || modules === undefined) return code;
      own.set(nameOf(root), { digest, stamps, modules });
      remember(nameOf(root), { digest, stamps, modules });
      return code;
    },
    async findChanged({ root, stamps, digest, proof, modules }) {
      const changed = findChange(stamps);
      if (changed !== undefined && modules === undefined && isTableCurrent(installRoot)) return undefined;
      if (changed !== undefined || proof === 'settled') return changed;
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

/** A missing folder, or a file that is no longer accessible, counts as changed. */
function findChange(stamps: RecordedStamps): string | undefined {
  try {
    return findChangedPath(stamps, '');
  } catch (error) {
    return messageOf(error);
  }
}

function installationChanged(): EngineError {
  return new EngineError('installation-changed', 'this installation of Tanren was rebuilt or updated while it ran', {
    help: 'start the command again: it then runs the new code',
  });
}
