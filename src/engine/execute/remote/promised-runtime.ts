/** A runtime that workers have already, for example in their container image: a platform property promises it by its digest. */
import { digestJson } from '../../../base/digest.js';
import { EngineError } from '../../model/engine-error.js';
import type { RuntimePort } from '../../model/ports.js';
import type { RootEntry } from './input-root.js';
import type { RuntimeDigests } from './runtime-tree.js';

/** The property of stages and workers. */
export const RUNTIME_PROPERTY = 'tanren';

/** States the digest, in the folder of the runtime. */
export const RUNTIME_DOCUMENT_NAME = 'runtime.json';

/** Where workers have it, unless their variable TANREN_RUNTIME says otherwise. */
const PLACE = '${TANREN_RUNTIME:-/opt/tanren}';

/** The command of an action for workers that have the runtime. */
export const PROMISED_COMMAND = ['/bin/sh', '-c', `exec "${PLACE}/bin/node" "${PLACE}/dist/workers/exec-action.cjs"`];

/** The digest of the whole runtime of this installation: of the paths and contents of its files. */
export async function digestRuntime(runtime: RuntimePort, digests: RuntimeDigests): Promise<string> {
  return digestJson({ runtime: digestsOf(await digests.entriesOf(await runtime({ kind: 'whole' }), '')) });
}

function digestsOf(entries: readonly RootEntry[]): readonly (readonly [string, string, boolean])[] {
  return entries.flatMap(entry => (entry.kind === 'file' ? [[entry.path, entry.blob.hash, entry.executable] as const] : []));
}

/** @throws EngineError `remote-runtime` if the property promises another runtime than that of this installation. */
export async function assertPromised(promised: string, runtime: RuntimePort, digests: RuntimeDigests): Promise<void> {
  const own = await digestRuntime(runtime, digests);
  if (own === promised) return;
  throw new EngineError(
    'remote-runtime',
    `the property "${RUNTIME_PROPERTY}" promises the runtime ${promised}; that of this installation is ${own}`,
    {
      help: 'build the image of the workers with "tanren cache remote runtime" of this version, and name its digest; or remove the property',
    },
  );
}
