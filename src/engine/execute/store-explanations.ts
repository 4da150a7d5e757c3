/** Storage of the documents behind a result's digests, by which later changes of its inputs are explained per file, and of its code per module. */

import { digestBytes, parseDigest } from '../../base/digest.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { codeOf } from '../action/code/pinned-code.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { messageOf } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';
import { encodeTree } from '../store/files/tree.js';

/** Stores the documents behind the digests in the manifest. If that fails, it warns; later changes are then reported without details. */
export async function storeExplanations(session: Session, stage: PlannedStage, pinned: PinnedStage): Promise<void> {
  try {
    for (const { tree } of pinned.inputs) if (tree !== undefined) await session.store.storeBytes(encodeTree(tree), 'no-flush');
    await noteCode(session, stage, pinned);
  } catch (error) {
    const message = `data that explains later changes cannot be written: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
  }
}

/** Stores the document of each code digest once per cache, because the modules are read again for it. */
async function noteCode({ code, noted, store }: Session, { plugin }: PlannedStage, { manifest }: PinnedStage): Promise<void> {
  const digest = parseDigest(manifest.code);
  if (digest === undefined || noted.has(digest)) return;
  noted.add(digest);
  if ((await store.read(digest)) !== undefined) return;
  const document = encodeCanonicalJson(await code.describe(codeOf(plugin)));
  if (digestBytes(document) === digest) await store.storeBytes(document, 'no-flush');
}
