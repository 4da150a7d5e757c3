/** The order in which stages can run, and the first cycle where there is none. */
import type { InputRef, PlannedStage, StageId } from '../model/plan.js';

/** The artifact references of a stage, record entries included. */
function artifactRefs(stage: Pick<PlannedStage, 'inputs'>): readonly ArtifactRef[] {
  return Object.values(stage.inputs)
    .flatMap(binding => (binding.kind === 'record' ? Object.values(binding.entries) : [binding]))
    .filter(ref => ref.kind === 'artifact');
}

type ArtifactRef = Extract<InputRef, { kind: 'artifact' }>;

/** A stage whose references are being followed: how many of them are done, and the one that led to the next stage of the trail. */
interface Visit {
  readonly stage: PlannedStage;
  readonly refs: readonly ArtifactRef[];
  next: number;
  through: ArtifactRef | undefined;
}

/**
 * Stages after all that they read, ties in the given order; or the first cycle, as "a.x → b.y → a.x" in the direction that data flows.
 * The trail is a list, not the call stack: a chain may be as long as the plan.
 */
export function orderStages(
  stages: ReadonlyMap<StageId, PlannedStage>,
): { readonly kind: 'order'; readonly order: readonly PlannedStage[] } | { readonly kind: 'cycle'; readonly refs: readonly ArtifactRef[] } {
  const order: PlannedStage[] = [];
  const state = new Map<StageId, 'open' | 'done'>();
  for (const first of stages.values()) {
    const trail: Visit[] = state.has(first.id) ? [] : [open(first, state)];
    for (let visit = trail.at(-1); visit !== undefined; visit = trail.at(-1)) {
      const ref = visit.refs[visit.next++];
      if (ref === undefined) {
        state.set(visit.stage.id, 'done');
        order.push(visit.stage);
        trail.pop();
        continue;
      }
      const producer = stages.get(ref.stage);
      if (producer === undefined || state.get(ref.stage) === 'done') continue;
      visit.through = ref;
      if (state.get(ref.stage) === 'open') return { kind: 'cycle', refs: loopOf(trail, ref.stage) };
      trail.push(open(producer, state));
    }
  }
  return { kind: 'order', order };
}

function open(stage: PlannedStage, state: Map<StageId, 'open' | 'done'>): Visit {
  state.set(stage.id, 'open');
  return { stage, refs: artifactRefs(stage), next: 0, through: undefined };
}

/** The references from `stage` back to itself, in the direction that data flows. */
function loopOf(trail: readonly Visit[], stage: StageId): readonly ArtifactRef[] {
  const start = trail.findIndex(visit => visit.stage.id === stage);
  return trail
    .slice(start)
    .flatMap(({ through }) => (through === undefined ? [] : [through]))
    .reverse();
}
