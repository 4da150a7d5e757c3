/** Topological order of the stages, or the first dependency cycle. */
import type { InputRef, PlannedStage, StageId } from '../model/plan.js';

/** Returns the artifact references of a stage, including record entries. */
function artifactRefs(stage: Pick<PlannedStage, 'inputs'>): readonly ArtifactRef[] {
  return Object.values(stage.inputs)
    .flatMap(binding => (binding.kind === 'record' ? Object.values(binding.entries) : [binding]))
    .filter(ref => ref.kind === 'artifact');
}

type ArtifactRef = Extract<InputRef, { kind: 'artifact' }>;

/** A stage whose references are being followed: the number of followed references, and the one that led to the next stage of the trail. */
interface Visit {
  readonly stage: PlannedStage;
  readonly refs: readonly ArtifactRef[];
  next: number;
  through: ArtifactRef | undefined;
}

/**
 * Returns the stages such that each follows all stages that it reads, with ties in the given order.
 * If there is a cycle, returns the first one, as "a.x → b.y → a.x" in the direction of data flow.
 * The trail is a list instead of the call stack, because a chain may be as long as the plan.
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

/** Returns the references from `stage` back to itself, in the direction of data flow. */
function loopOf(trail: readonly Visit[], stage: StageId): readonly ArtifactRef[] {
  const start = trail.findIndex(visit => visit.stage.id === stage);
  return trail
    .slice(start)
    .flatMap(({ through }) => (through === undefined ? [] : [through]))
    .reverse();
}
