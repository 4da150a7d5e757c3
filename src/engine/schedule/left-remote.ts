/**
 * Results that stay in the remote cache: a stage whose outputs nothing here reads needs only their digests.
 * Its end is known, and nothing of it is in the local cache, in the state, or under artifacts/, until a stage that runs reads it.
 */
import { existsSync } from 'node:fs';
import { quickKeyOf } from '../action/manifest.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import { placeOf } from '../action/session.js';
import { restoreResult } from '../execute/restore-result.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import type { ActionResult } from '../store/action-records.js';
import type { StageNeeds } from './stage-needs.js';
import { endWithFailure, pinNow } from './stage-needs.js';

/**
 * Whether a result of the stage may stay remote. A stage that has published something gets its new result, so that artifacts/ never mixes
 * results of two builds.
 */
export function mayStayRemote({ session, stage, rule, leaves }: StageNeeds): boolean {
  if (!leaves || rule !== undefined || session.state.stages.has(stage.id)) return false;
  return !existsSync(placeOf(session.plan, stage).folder);
}

/** The end of a stage whose result stays remote. Its outputs have no signatures, because nothing is published. */
export function endRemote(pinned: PinnedStage, { outputs, metrics, durationMs }: ActionResult): StageEnd {
  const unpublished = Object.entries(outputs).map(([port, artifact]) => [port, { ...artifact, signature: '' }] as const);
  return {
    outcome: { kind: 'restored', sizeBytes: 0, from: 'remote', content: 'left' },
    accepted: {
      key: pinned.key,
      quickKey: quickKeyOf(pinned.manifest),
      outputs: Object.fromEntries(unpublished),
      folderStamp: '',
      metrics,
      previousMetrics: undefined,
      durationMs,
    },
  };
}

export function isLeft({ outcome }: StageEnd): boolean {
  return outcome.kind === 'restored' && outcome.content === 'left';
}

/** Publishes a result that stayed remote. @returns undefined if the remote cache no longer gives it: then the stage must run. */
export async function bringHere(needs: StageNeeds): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const pinned = await pinNow(needs);
  const result = await session.remote?.bringLeft(stage.id, pinned.key);
  const end = result === undefined ? undefined : await restoreResult(session, stage, pinned, result);
  return end?.outcome.kind === 'restored' ? { ...end, outcome: { ...end.outcome, from: 'remote' } } : end;
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
    const work = bringOrRun(stage);
    brought.set(stage.id, work);
    return work;
  };
  const bringOrRun = async (stage: PlannedStage): Promise<StageEnd> => {
    const end = await endWithFailure<StageEnd>(async () => {
      const here = await bringHere(results.needsOf(stage));
      if (here !== undefined) return here;
      const because = await bringInputs(stage.id);
      return because === undefined ? results.runAgain(stage) : { outcome: { kind: 'skipped', because }, accepted: undefined };
    });
    results.settle(stage.id, end);
    return end;
  };
  return bringInputs;
}
