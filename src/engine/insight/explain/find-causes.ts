/** Finds the changes that make stages out of date, and the stages through which each change reaches them. */
import { getDefined } from '../../../base/invariant.js';
import type { Change } from '../../action/changes.js';
import { findChanges } from '../../action/changes.js';
import { inputOf } from '../../action/input-of.js';
import { compareWithLast, placeOf, type Session } from '../../action/session.js';
import type { PlannedStage, StageId } from '../../model/plan.js';
import { findTouched } from '../../store/published.js';
import type { RecordIndex } from '../../store/record-index.js';
import type { Examined } from '../status/stage-status.js';
import { type Cause, describeCause } from './cause.js';
import { createDetails, type Details } from './details.js';
import { createEarlierActions, type EarlierActions } from './earlier-actions.js';

/** A cause and the stages that it passes through. The last one is the stage that is explained. */
export interface Trail {
  readonly cause: Cause;
  readonly stage: StageId;
  /** The path up to this stage; absent at the root. */
  readonly from: Trail | undefined;
}

/** Returns the root first. */
export function pathOf(trail: Trail): readonly StageId[] {
  const path: StageId[] = [];
  for (let at: Trail | undefined = trail; at !== undefined; at = at.from) path.push(at.stage);
  return path.reverse();
}

interface Search {
  readonly session: Session;
  readonly examined: ReadonlyMap<StageId, Examined>;
  readonly found: Map<StageId, readonly Trail[]>;
  readonly details: Details;
  readonly earlier: EarlierActions;
}

/** One trail per cause and stage, for every stage that is not up to date. */
export async function findCauses(
  session: Session,
  examined: ReadonlyMap<StageId, Examined>,
  records: RecordIndex,
): Promise<ReadonlyMap<StageId, readonly Trail[]>> {
  const earlier = createEarlierActions(session, records);
  const search: Search = { session, examined, found: new Map(), details: createDetails(session), earlier };
  for (const [id, one] of examined) {
    const stage = getDefined(session.plan.stages.get(id), id);
    search.found.set(id, distinct(await causesOf(search, stage, one)));
  }
  return search.found;
}

async function causesOf(search: Search, stage: PlannedStage, { status, pinned, accepted }: Examined): Promise<readonly Trail[]> {
  const own = (cause: Cause): readonly Trail[] => [{ cause, stage: stage.id, from: undefined }];
  switch (status.kind) {
    case 'up-to-date':
      return [];
    case 'impossible':
      return own({ kind: 'impossible', failure: status.failure });
    case 'blocked':
      return inherit(search, stage.id, status.because);
    case 'undecided':
    case 'stale':
    case 'restorable': {
      if (status.kind === 'stale' && status.reasons[0] === 'forced') return own({ kind: 'forced' });
      if (accepted === undefined) return own({ kind: status.kind === 'restorable' ? 'only-cached' : 'never-built' });
      const above = status.kind === 'undecided' ? status.because : status.kind === 'stale' ? status.after : [];
      const inherited = above.flatMap(id => inherit(search, stage.id, id));
      if (pinned === undefined) return inherited;
      if ((await compareWithLast(search.session, stage, pinned.manifest)).last === 'lost') return own({ kind: 'record-lost' });
      const changed: Trail[] = [];
      for (const change of status.changes) changed.push(...(await trailsOf(search, stage, change)));
      if (changed.length + inherited.length > 0) return [...changed, ...inherited];
      const { folder, names } = placeOf(search.session.plan, stage);
      return own({ kind: 'outputs', what: findTouched(folder, accepted, names) });
    }
  }
}

function inherit({ found }: Search, stage: StageId, from: StageId): readonly Trail[] {
  return (found.get(from) ?? []).map(trail => ({ cause: trail.cause, stage, from: trail }));
}

async function trailsOf(search: Search, stage: PlannedStage, change: Change): Promise<readonly Trail[]> {
  const ref = change.before === undefined || change.after === undefined ? undefined : inputOf(stage, change.label);
  if (ref?.kind !== 'artifact') {
    const cause = await search.details.causeOf(stage, change);
    return [{ cause, stage: stage.id, from: undefined }];
  }
  const inherited = inherit(search, stage.id, ref.stage);
  if (inherited.length > 0) return inherited;
  // The stage is up to date: it was built after this stage used its previous result.
  const rebuilt = await trailsOfRebuilt(search, getDefined(search.session.plan.stages.get(ref.stage), ref.stage), change, 0);
  return rebuilt.map(trail => ({ cause: trail.cause, stage: stage.id, from: trail }));
}

const DEEPEST = 500;

/**
 * Explains why an up-to-date stage has another result than the one used before, from the record of the earlier result if the cache has it.
 */
async function trailsOfRebuilt(search: Search, stage: PlannedStage, taken: Change, depth: number): Promise<readonly Trail[]> {
  const unknown: readonly Trail[] = [{ cause: { kind: 'rebuilt' }, stage: stage.id, from: undefined }];
  const before = search.earlier.findMaker(stage.plugin.name, taken.before);
  const now = await search.earlier.findAccepted(stage.id);
  if (before === undefined || now === undefined || depth > DEEPEST) return unknown;
  const trails: Trail[] = [];
  for (const change of findChanges(before, now)) {
    const ref = change.before === undefined || change.after === undefined ? undefined : inputOf(stage, change.label);
    const maker = ref?.kind === 'artifact' ? search.session.plan.stages.get(ref.stage) : undefined;
    if (maker === undefined) trails.push({ cause: await search.details.causeOf(stage, change), stage: stage.id, from: undefined });
    else
      for (const trail of await trailsOfRebuilt(search, maker, change, depth + 1))
        trails.push({ cause: trail.cause, stage: stage.id, from: trail });
  }
  return trails.length === 0 ? unknown : distinct(trails);
}

/** Keeps the first trail of each cause. */
function distinct(trails: readonly Trail[]): readonly Trail[] {
  const seen = new Map<string, Trail>();
  for (const trail of trails) {
    const text = describeCause(trail.cause);
    if (!seen.has(text)) seen.set(text, trail);
  }
  return [...seen.values()];
}
