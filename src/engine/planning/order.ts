/** In which order can stages run, and where do they wait for each other in a circle? */
import type { InputRef, PlannedStage, StageId } from '../model/plan.js';

/** The artifact references of a stage, record entries included. */
function artifactRefs(stage: Pick<PlannedStage, 'inputs'>): readonly Extract<InputRef, { kind: 'artifact' }>[] {
  return Object.values(stage.inputs)
    .flatMap(binding => (binding.kind === 'record' ? Object.values(binding.entries) : [binding]))
    .filter(ref => ref.kind === 'artifact');
}

/** Stages after all that they read, ties in the given order; or the first cycle, as "a.x → b.y → a.x" in the direction that data flows. */
export function orderStages(
  stages: ReadonlyMap<StageId, PlannedStage>,
):
  | { readonly kind: 'order'; readonly order: readonly PlannedStage[] }
  | { readonly kind: 'cycle'; readonly refs: readonly Extract<InputRef, { kind: 'artifact' }>[] } {
  const order: PlannedStage[] = [];
  const state = new Map<StageId, 'open' | 'done'>();
  const trail: { stage: StageId; through: Extract<InputRef, { kind: 'artifact' }> }[] = [];

  const visit = (stage: PlannedStage): readonly Extract<InputRef, { kind: 'artifact' }>[] | undefined => {
    state.set(stage.id, 'open');
    for (const ref of artifactRefs(stage)) {
      const producer = stages.get(ref.stage);
      if (producer === undefined || state.get(ref.stage) === 'done') continue;
      if (state.get(ref.stage) === 'open') {
        const start = trail.findIndex(step => step.stage === ref.stage);
        const loop = [...trail.slice(start).map(step => step.through), ref].slice(start < 0 ? -1 : 0);
        return loop.reverse();
      }
      trail.push({ stage: stage.id, through: ref });
      const cycle = visit(producer);
      if (cycle !== undefined) return cycle;
      trail.pop();
    }
    state.set(stage.id, 'done');
    order.push(stage);
    return undefined;
  };
  for (const stage of stages.values()) {
    if (state.has(stage.id)) continue;
    const cycle = visit(stage);
    if (cycle !== undefined) return { kind: 'cycle', refs: cycle };
  }
  return { kind: 'order', order };
}
