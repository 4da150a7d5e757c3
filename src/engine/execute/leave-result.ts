/** Keeping of a remote run whose outputs stay on the server: the build and the remote cache know the result, and nothing is published here. */
import { quickKeyOf } from '../action/manifest.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import { messageOf } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';
import type { ActionResult } from '../store/action-records.js';
import { contentOfLeft } from './left-outputs.js';
import { mayShare } from './may-share.js';
import type { CompletedRun } from './run-once.js';

export async function leaveResult(session: Session, stage: PlannedStage, pinned: PinnedStage, run: CompletedRun): Promise<AcceptedStage> {
  const { metrics, durationMs } = run;
  const outputs = Object.fromEntries(Object.entries(run.outputs).map(([port, { artifact }]) => [port, artifact]));
  const result: ActionResult = { outputs, metrics, log: await storeLog(session, stage, run), durationMs };
  session.remote?.leave(pinned.key, pinned.manifest, result, contentOfLeft(run.outputs));
  if (mayShare(stage)) session.remote?.offer(stage.id, pinned.key, pinned.manifest, result);
  return acceptUnpublished(pinned, result);
}

/** The result as later stages see it. Its outputs have no signatures, because nothing is published. */
export function acceptUnpublished(pinned: PinnedStage, { outputs, metrics, durationMs }: ActionResult): AcceptedStage {
  const unpublished = Object.entries(outputs).map(([port, artifact]) => [port, { ...artifact, signature: '' }] as const);
  return {
    key: pinned.key,
    quickKey: quickKeyOf(pinned.manifest),
    outputs: Object.fromEntries(unpublished),
    folderStamp: '',
    metrics,
    previousMetrics: undefined,
    durationMs,
  };
}

async function storeLog({ store, ports }: Session, stage: PlannedStage, { log }: CompletedRun): Promise<ActionResult['log']> {
  try {
    return log === undefined ? undefined : await store.storeBytes(log, 'no-flush');
  } catch (error) {
    const message = `the log cannot be written to the cache: ${messageOf(error)}`;
    ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
    return undefined;
  }
}
