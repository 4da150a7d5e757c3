/** The reproducibility check: a second run of a stage in a new folder, with every part computed again and its outputs compared. Nothing is stored. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseDigest } from '../../base/digest.js';
import { invariant } from '../../base/invariant.js';
import { placeOf, type Session } from '../action/session.js';
import { createComparingPartStore } from '../execute/parts/comparing-part-store.js';
import { repairArtifact } from '../execute/repair-artifact.js';
import { runOnce } from '../execute/run-once.js';
import { removeRunFolder } from '../execute/starter/remove-run-folder.js';
import { findWritten } from '../execute/written-inputs.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { CheckResult, Difference } from '../model/check-result.js';
import { EngineError } from '../model/engine-error.js';
import { toFailure } from '../model/failure.js';
import type { PlannedStage } from '../model/plan.js';
import { decodeTree } from '../store/files/tree.js';
import { type FirstResult, findDifferences } from './differences.js';
import type { StageNeeds } from './stage-needs.js';

/**
 * Runs the stage a second time. `accepted` is the result of the first run, from this build or from a record. Its key identifies the same action.
 */
export async function checkStage(needs: StageNeeds, accepted: AcceptedStage): Promise<CheckResult> {
  const { id } = needs.stage;
  try {
    return await runAgain(needs, accepted);
  } catch (error) {
    return { verdict: 'failed', stage: id, failure: toFailure(error) };
  }
}

async function runAgain(needs: StageNeeds, accepted: AcceptedStage): Promise<CheckResult> {
  const { session, stage, parts, services, endOf } = needs;
  const { ports, cache, plan, pinner } = session;
  const pinned = await pinner.pin(stage, before => endOf(before)?.accepted);
  if (pinned.key !== accepted.key) throw inputChanged();
  ports.emit({ kind: 'check-started', stage: stage.id });
  const partsThatDiffer: Difference[] = [];
  const partStore = createComparingPartStore(parts, {
    plugin: pinned.code.root,
    differs: path => partsThatDiffer.push({ kind: 'part', path }),
    warn: (code, message) => ports.emit({ kind: 'warning', stage: stage.id, code, message }),
  });
  const run = await runOnce(session, stage, pinned, {
    partStore,
    reaper: services.reaper,
    starters: services.starters,
    guard: services.guard,
    artifacts: 'links',
    endOf,
    logPath: cache.log(`${plan.pipeline}/.check`, stage.id),
  });
  try {
    if (ports.signal.aborted) return { verdict: 'cancelled', stage: stage.id };
    const written = run.sharedMs === undefined ? undefined : await findWritten(pinned.inputs, run.sharedMs);
    if (written !== undefined) await repairArtifact(session, written, services.repairs);
    if (written !== undefined || (await pinner.findChanged(pinned)) !== undefined) throw inputChanged();
    invariant(run.kind !== 'inputs-left', 'a check runs here');
    if (run.kind === 'failed') return { verdict: 'failed', stage: stage.id, failure: run.failure };
    const { names } = placeOf(plan, stage);
    const differences = await findDifferences(firstResultOf(session, stage, accepted), run.outputs, names);
    // A part that differs is the cause of different outputs, or will be once it is used.
    const all = [...differences, ...partsThatDiffer];
    return all.length === 0 ? { verdict: 'same', stage: stage.id } : { verdict: 'different', stage: stage.id, differences: all };
  } finally {
    await removeRunFolder(run.folder);
  }
}

/** Returns the first result. Its bytes are in the store, or under artifacts/ if the store could not keep them. */
export function firstResultOf(session: Session, stage: PlannedStage, { outputs }: AcceptedStage): FirstResult {
  const { folder } = placeOf(session.plan, stage);
  return {
    outputs,
    async findTree({ digest }) {
      const bytes = await session.store.read(digest);
      return bytes === undefined ? undefined : decodeTree(bytes.toString());
    },
    findFile(text, published) {
      const digest = parseDigest(text);
      const caches = [session.cache, session.cache.shared].filter(cache => cache !== undefined);
      const kept = digest === undefined ? [] : caches.map(cache => cache.blob(digest));
      return [...kept, join(folder, published)].find(path => existsSync(path));
    },
  };
}

function inputChanged(): EngineError {
  return new EngineError('input-changed', 'an input changed before the second run had ended: there is nothing to compare', {
    help: 'build again when nothing writes to it any more',
  });
}
