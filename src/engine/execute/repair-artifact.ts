/** Repair of an artifact that was written to during a build. */
import { getDefined } from '../../base/invariant.js';
import type { PinnedInput } from '../action/pinned-stage.js';
import { placeOf, type Session } from '../action/session.js';
import type { StageId } from '../model/plan.js';
import { contentOf } from '../store/publish.js';
import { resign } from '../store/published.js';
import { publishStage } from './publish-stage.js';
import { cannotRestore } from './written-inputs.js';

/** Ongoing repairs by the stage whose artifacts they restore. Each stage has at most one at a time. */
export type Repairs = Map<StageId, Promise<void>>;

/**
 * Restores the artifacts of the stage that made the input. Its accepted result stays.
 * @throws EngineError `input-written` if the store does not have the content.
 */
export async function repairArtifact(session: Session, input: PinnedInput, repairs: Repairs): Promise<void> {
  const { ref } = input;
  if (ref.kind === 'source') return;
  const before = repairs.get(ref.stage) ?? Promise.resolve();
  const repair = before.catch(() => undefined).then(() => repairNow(session, ref.stage, input));
  repairs.set(ref.stage, repair);
  await repair;
}

async function repairNow(session: Session, id: StageId, input: PinnedInput): Promise<void> {
  const stage = getDefined(session.plan.stages.get(id), id);
  const accepted = getDefined(session.state.stages.get(id), `result of ${id}`);
  const { folder, names } = placeOf(session.plan, stage);
  const published =
    (await resign(folder, accepted, names)) ??
    (await publishStage(session, stage, accepted.outputs, contentOf(session.store, session.ports.artifacts ?? 'copies')));
  if (published === undefined) throw cannotRestore(input);
  session.writer?.acceptStage(id, { ...accepted, outputs: published.outputs, folderStamp: published.folderStamp });
}
