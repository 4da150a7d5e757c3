/** What is known of the stages while a build runs: an earlier look at all of them, and what the build has ended since. */
import { keyOf } from '../../engine/action/manifest.js';
import type { Explanation } from '../../engine/insight/explain/explain-stages.js';
import type { StageId } from '../../engine/model/plan.js';
import type { RunningBuild } from './running-build.js';

/** States of stages that have their result. */
const DONE: readonly string[] = ['executed', 'restored', 'up-to-date'];

/** A look at all stages, and what has happened to the files since. Times are in milliseconds since 1970. */
export interface EarlierLook {
  readonly explained: ReadonlyMap<StageId, Explanation>;
  /** When it began. */
  readonly lookedMs: number;
  /** When a file was last seen to change: 0 if none was. */
  readonly editedMs: number;
  /** Of the results that builds accepted. */
  readonly keys: ReadonlyMap<string, string>;
  /** The stages whose result was accepted since the state was last read, which a build's journal may tell later. */
  readonly fresh: ReadonlySet<string>;
}

export interface StagesAfterLook {
  readonly explained: ReadonlyMap<StageId, Explanation>;
  /** Whether only another look can tell if the edit reaches a stage that has ended since. */
  readonly unclear: boolean;
}

/** A build accepts a result a moment after it tells of its end. */
const ACCEPTED_MS = 2_000;

/**
 * What is known of the stages, after those that the build has ended since: they are up to date, unless a file was edited after the build was planned and
 * the result is not that of the present files. A stage that ended before the look is as the look found it.
 */
export function withEnded({ explained, lookedMs, editedMs, keys, fresh }: EarlierLook, build: RunningBuild | undefined): StagesAfterLook {
  const isEdited = editedMs > (build?.plannedMs ?? 0);
  let unclear = false;
  const afterRun = (id: StageId, explanation: Explanation): Explanation => {
    const { state = '', endedMs = 0 } = build?.stages[id] ?? {};
    const { manifest } = explanation;
    const hasEnded = DONE.includes(state) && endedMs > lookedMs - ACCEPTED_MS;
    if (explanation.status.kind === 'up-to-date' || !(hasEnded || fresh.has(id))) return explanation;
    const upToDate: Explanation = { ...explanation, status: { kind: 'up-to-date' }, cached: undefined, causes: [] };
    const isOfPresentFiles = manifest !== undefined && keyOf(manifest) === keys.get(id);
    if (!hasEnded) return isOfPresentFiles ? upToDate : explanation;
    if (isOfPresentFiles || (!isEdited && endedMs > lookedMs)) return upToDate;
    if (endedMs <= lookedMs) return explanation;
    unclear = true;
    return manifest === undefined ? upToDate : explanation;
  };
  return { explained: new Map([...explained].map(([id, explanation]) => [id, afterRun(id, explanation)])), unclear };
}
