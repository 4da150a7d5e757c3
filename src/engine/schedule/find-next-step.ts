/** Determines the next step for a stage: whether a result in place or in the cache makes a run unnecessary. */
import { describeChange, findChanges } from '../action/changes.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import { compareWithLast } from '../action/session.js';
import { mayShare } from '../execute/may-share.js';
import { acceptInPlace, restoreResult } from '../execute/restore-result.js';
import type { WarningCode } from '../model/events.js';
import type { StageEnd } from '../model/stage-end.js';
import type { ActionResult } from '../store/action-records.js';
import { endRemote } from './left-remote.js';
import { mayStayRemote } from './may-stay-remote.js';
import type { OngoingRun } from './ongoing-runs.js';
import { pinNow, type StageNeeds, warn } from './stage-needs.js';

/** The next step for a stage: it has ended, a run is needed, or an ongoing run is joined. */
export type NextStep =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  | { readonly kind: 'run'; readonly pinned: PinnedStage; readonly reasons: readonly string[] }
  /** A run of exactly this action has been going on since before the build switched to a newer plan. */
  | { readonly kind: 'join'; readonly run: OngoingRun };

/** Looks for a result that makes a run unnecessary, in place or in the cache. @throws EngineError if an input cannot be pinned. */
export async function findNextStep(needs: StageNeeds): Promise<NextStep> {
  const { session, stage } = needs;
  const pinned = await pinNow(needs);
  const run = await findWantedRun(needs, pinned);
  if (run !== undefined) return { kind: 'join', run };
  const failed = await findFailure(needs, pinned);
  if (failed !== undefined) return { kind: 'ended', end: failed };
  needs.rule?.assertAction(stage, pinned.manifest);
  if (needs.forced) return { kind: 'run', pinned, reasons: ['forced'] };
  const ruled = await needs.rule?.find(session, stage, pinned);
  if (ruled?.kind === 'ended') return ruled;
  if (ruled?.kind === 'must-run') return { kind: 'run', pinned, reasons: ruled.reasons };
  const end = (isLocalIgnored(needs) ? undefined : await findHere(needs, pinned)) ?? (await restoreFromRemote(needs, pinned));
  if (end !== undefined) return { kind: 'ended', end };
  return { kind: 'run', pinned, reasons: (await compareWithLast(session, stage, pinned.manifest)).reasons };
}

/** Returns the stage's ongoing run if it is of this action and its inputs are unchanged. Any other ongoing run is stopped at once. */
async function findWantedRun({ session, stage, services: { runs } }: StageNeeds, pinned: PinnedStage): Promise<OngoingRun | undefined> {
  const run = await runs.find(stage.id);
  if (run === undefined) return undefined;
  const changed = await session.pinner.findChanged(run.pinned);
  if (run.pinned.key === pinned.key && changed === undefined) return run;
  const [change] = findChanges(run.pinned.manifest, pinned.manifest);
  const why = changed === undefined ? undefined : `${changed} changed`;
  await runs.stop(stage.id, why ?? (change === undefined ? 'its action changed' : describeChange(change)));
  return undefined;
}

/** Returns the failure of the same action under an older plan of this build, or in a build that it goes on from. With unchanged inputs it would fail again. */
async function findFailure({ session, stage, services }: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const failure = services.failures.get(stage.id);
  if (failure === undefined || failure.pinned.key !== pinned.key) return undefined;
  // Equal keys have equal inputs; those of the other run may have stood elsewhere.
  return (await session.pinner.findChanged(pinned)) === undefined ? failure.end : undefined;
}

/** A stage that may not be shared has only local results. */
function isLocalIgnored({ session, stage }: StageNeeds): boolean {
  return session.remote?.use.local === 'ignored' && mayShare(stage);
}

async function findHere(needs: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  return (await acceptInPlace(needs.session, needs.stage, pinned, warnOf(needs))) ?? (await restoreFromRecord(needs, pinned));
}

/** A result of the remote cache is in the local cache, complete, before it is restored. One that nothing here needs yet stays there. */
async function restoreFromRemote(needs: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const stays = mayStayRemote(needs);
  const result = mayShare(stage) ? await session.remote?.bring(stage.id, pinned.key, stays ? 'digests' : 'content') : undefined;
  if (result === undefined || !fitsPorts(needs, result)) return undefined;
  if (stays) return endRemote(pinned, result);
  const end = await restoreResult(session, stage, pinned, result, warnOf(needs));
  return end?.outcome.kind === 'restored' ? { ...end, outcome: { ...end.outcome, from: 'remote' } } : end;
}

function warnOf(needs: StageNeeds): (code: WarningCode, message: string) => void {
  return (code, message) => warn(needs, code, message);
}

async function restoreFromRecord(needs: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const record = await session.records.find(pinned.key);
  if (record === 'damaged') warn(needs, 'cache-damaged', `the record of an earlier run of ${stage.id} is damaged; it is not used`);
  if (record === undefined || record === 'damaged') return undefined;
  for (const result of [...record.results].reverse()) {
    const end = fitsPorts(needs, result) ? await restoreResult(session, stage, pinned, result, warnOf(needs)) : undefined;
    if (end !== undefined) {
      await session.records.noteUse(pinned.key);
      return end;
    }
    await session.records.dropResult(pinned.key, result);
  }
  return undefined;
}

/** Checks that the outputs of a result fit the stage's ports, because a record may come from another cache. */
function fitsPorts(needs: StageNeeds, { outputs }: ActionResult): boolean {
  const { id, outputPorts } = needs.stage;
  const stray = Object.keys(outputs).find(name => !Object.hasOwn(outputPorts, name));
  const missing = Object.entries(outputPorts).find(([name, port]) => !port.optional && !Object.hasOwn(outputs, name))?.[0];
  if (stray === undefined && missing === undefined) return true;
  const what = stray === undefined ? `lacks its output "${missing}"` : `has an output "${stray}", which the stage does not declare`;
  warn(needs, 'cache-damaged', `a cached result of ${id} ${what}; it is not used`);
  return false;
}
