/**
 * Results that stay in the remote cache: a stage whose outputs nothing here reads needs only their digests.
 * Its end is known, and nothing of it is in the local cache, in the state, or under artifacts/, until a stage that runs reads it.
 */
import type { PinnedStage } from '../action/pinned-stage.js';
import { acceptUnpublished } from '../execute/leave-result.js';
import { restoreResult } from '../execute/restore-result.js';
import { isLeftRemote, type Outcome } from '../model/outcome.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import type { ActionResult } from '../store/action-records.js';
import type { StageNeeds } from './stage-needs.js';
import { endWithFailure, pinNow } from './stage-needs.js';

/** The end of a stage whose result stays remote. */
export function endRemote(pinned: PinnedStage, result: ActionResult): StageEnd {
  return {
    outcome: { kind: 'restored', sizeBytes: 0, from: 'remote', content: 'left' },
    accepted: acceptUnpublished(pinned, result),
  };
}

export function isLeft({ outcome }: StageEnd): boolean {
  return isLeftRemote(outcome);
}

/** Publishes a result that stayed remote. @returns undefined if the remote cache no longer gives it: then the stage must run. */
export async function bringHere(needs: StageNeeds): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const pinned = await pinNow(needs);
  const result = await session.remote?.bringLeft(stage.id, pinned.key);
  const end = result === undefined ? undefined : await restoreResult(session, stage, pinned, result);
  return end?.outcome.kind === 'restored' ? { ...end, outcome: { ...end.outcome, from: 'remote' } } : end;
}

function withoutContent({ durationMs }: Extract<Outcome, { readonly kind: 'executed' }>): Outcome {
  return { kind: 'executed', durationMs };
}

/** What a build does with results that stay remote. */
export interface LeftResults {
  readonly endOf: (stage: StageId) => StageEnd | undefined;
  readonly dependenciesOf: (stage: StageId) => readonly PlannedStage[];
  readonly needsOf: (stage: PlannedStage) => StageNeeds;
  /** Runs the stage, because its result is lost. */
  readonly runAgain: (stage: PlannedStage) => Promise<StageEnd>;
  /** Replaces the end of a stage. */
  readonly settle: (stage: StageId, end: StageEnd) => void;
}

/** A function that makes the inputs of a stage available before it runs. @returns the first stage that has failed to be. */
export function createBringer(results: LeftResults): (stage: StageId) => Promise<StageId | undefined> {
  const brought = new Map<StageId, Promise<StageEnd>>();
  const bringInputs = async (stage: StageId): Promise<StageId | undefined> => {
    const ends = await Promise.all(results.dependenciesOf(stage).map(async before => [before.id, await bringOne(before)] as const));
    return ends.find(([, end]) => end?.accepted === undefined)?.[0];
  };
  const bringOne = (stage: PlannedStage): Promise<StageEnd | undefined> => {
    const end = results.endOf(stage.id);
    const known = brought.get(stage.id);
    if (known !== undefined || end === undefined || !isLeft(end)) return known ?? Promise.resolve(end);
    const work = bringOrRun(stage, end);
    brought.set(stage.id, work);
    return work;
  };
  const bringOrRun = async (stage: PlannedStage, end: StageEnd): Promise<StageEnd> => {
    const brought = await endWithFailure<StageEnd>(async () => {
      const here = await bringHere(results.needsOf(stage));
      // It ran in this build, wherever its outputs come from now.
      if (here !== undefined) return end.outcome.kind === 'executed' ? { ...here, outcome: withoutContent(end.outcome) } : here;
      const because = await bringInputs(stage.id);
      return because === undefined ? results.runAgain(stage) : { outcome: { kind: 'skipped', because }, accepted: undefined };
    });
    results.settle(stage.id, brought);
    return brought;
  };
  return bringInputs;
}
