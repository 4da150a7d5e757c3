/** What must be kept with a result so that a later change of its inputs can be told file by file, and one of its code module by module? */
import { encodeCanonicalJson } from '../../base/canonical-json.js';
import { digestBytes, parseDigest } from '../../base/digest.js';
import { codeOf } from '../action/code/pinned-code.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { messageOf } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';
import { encodeTree } from '../store/files/tree.js';

/** Keeps the documents that digests in the manifest are of. Where that fails, later changes are only told as such: a warning. */
export async function keepNotes(session: Session, stage: PlannedStage, pinned: PinnedStage): Promise<void> {
  try {
    for (const { tree } of pinned.inputs) if (tree !== undefined) await session.store.keepBytes(encodeTree(tree), 'no-flush');
    await noteCode(session, stage, pinned);
  } catch (error) {
    const message = `what explains later changes is not kept: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
  }
}

/** Once per code and cache: modules are read again only for this. */
async function noteCode({ code, noted, store }: Session, { plugin }: PlannedStage, { manifest }: PinnedStage): Promise<void> {
  const digest = parseDigest(manifest.code);
  if (digest === undefined || noted.has(digest)) return;
  noted.add(digest);
  if ((await store.read(digest)) !== undefined) return;
  const document = encodeCanonicalJson(await code.describe(codeOf(plugin)));
  if (digestBytes(document) === digest) await store.keepBytes(document, 'no-flush');
}
