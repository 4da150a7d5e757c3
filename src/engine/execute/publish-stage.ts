/** Publication of a stage's outputs, with a warning about files in its folder that no build wrote. */
import { join } from 'node:path';
import { listSome } from '../../base/text/list-some.js';
import { placeOf, type Session } from '../action/session.js';
import type { Published } from '../model/accepted-stage.js';
import type { Artifact } from '../model/artifact.js';
import { artifactFolder } from '../model/artifact-path.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import { isLeftRemote } from '../model/outcome.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import type { Content } from '../store/publish.js';
import { publish } from '../store/publish.js';

/**
 * Publishes artifacts. Returns undefined if some content is not available; nothing has changed then.
 * @throws EngineError `not-published`, `output-blocked`.
 */
export async function publishStage(
  session: Session,
  stage: PlannedStage,
  outputs: Readonly<Record<string, Artifact>>,
  content: Content,
): Promise<Published | undefined> {
  const accepted = session.state.stages.get(stage.id)?.outputs;
  const publication = {
    artifactsRoot: join(session.plan.projectFolder, 'artifacts'),
    folder: nameOf(session, stage),
    names: placeOf(session.plan, stage).names,
    outputs,
    accepted,
  };
  try {
    if (accepted !== undefined) startReplacing(session, stage);
    const placed = await publish(publication, content, session.published);
    if (placed === undefined) return undefined;
    warnOfForeign(session, stage, placed.foreign);
    return { outputs: placed.outputs, folderStamp: placed.folderStamp };
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('not-published', `the artifacts cannot be written: ${messageOf(error)}`, {
      help: 'free space or make artifacts/ writable, and build again: the result is in the cache',
      cause: error,
    });
  }
}

/**
 * Records that the artifacts of the accepted result may now be replaced. Where the cache cannot be written, a warning says so, as no later line of
 * the state can be written either.
 */
function startReplacing(session: Session, stage: PlannedStage): void {
  try {
    session.writer?.startReplacing(stage.id);
  } catch (error) {
    const message = `the state cannot be written: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
  }
}

/** Warns of the files in the stage's folder that no build wrote, if there are any. */
export function warnOfForeign(session: Session, stage: PlannedStage, names: readonly string[]): void {
  if (names.length === 0) return;
  const message = `artifacts/${nameOf(session, stage)} holds files that no build wrote: ${listSome(names)}; they stay`;
  session.ports.emit({ kind: 'warning', stage: stage.id, code: 'foreign-files', message });
}

/** Updates the list of published names to the current results of the stages. */
export function savePublishedNames(session: Session, ends: ReadonlyMap<StageId, StageEnd>): void {
  try {
    for (const [id, { accepted, outcome }] of ends) {
      const stage = session.plan.stages.get(id);
      if (stage === undefined || accepted === undefined || isLeftRemote(outcome)) continue;
      const { names } = placeOf(session.plan, stage);
      session.published.settle(
        nameOf(session, stage),
        Object.keys(accepted.outputs).map(port => names[port] ?? port),
      );
    }
    session.published.save();
  } catch (error) {
    const message = `the list of published files cannot be written: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  }
}

/** Returns the stage's folder, relative to artifacts/. */
function nameOf({ plan }: Session, stage: PlannedStage): string {
  return artifactFolder(plan, stage).slice('artifacts/'.length);
}
