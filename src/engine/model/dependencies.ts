/** The dependencies of stages, and the selection of targets with all their dependencies. */
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from './plan.js';

/** Returns every stage whose outputs the stage reads, each once. */
export function dependenciesOf(stage: Pick<PlannedStage, 'inputs'>): readonly StageId[] {
  const found = new Set<StageId>();
  for (const binding of Object.values(stage.inputs)) {
    for (const ref of refsOf(binding)) if (ref.kind === 'artifact') found.add(ref.stage);
  }
  return [...found];
}

export function refsOf(binding: InputBinding): readonly InputRef[] {
  return binding.kind === 'record' ? Object.values(binding.entries) : [binding];
}

/** Returns the targets and all their direct and indirect dependencies, in the plan's order. */
export function selectStages(plan: Plan, targets: 'all' | readonly StageId[]): readonly PlannedStage[] {
  const all = [...plan.stages.values()];
  if (targets === 'all') return all;
  const wanted = new Set(targets);
  const selected: PlannedStage[] = [];
  for (const stage of all.reverse()) {
    if (!wanted.has(stage.id)) continue;
    selected.push(stage);
    for (const dependency of dependenciesOf(stage)) wanted.add(dependency);
  }
  return selected.reverse();
}

/** Whether `reader` depends on `stage`, directly or indirectly. */
export function dependsOn(plan: Plan, reader: StageId, stage: StageId): boolean {
  const seen = new Set<StageId>();
  const queue = [reader];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const planned = plan.stages.get(next);
    for (const id of planned === undefined || seen.has(next) ? [] : dependenciesOf(planned)) {
      if (id === stage) return true;
      queue.push(id);
    }
    seen.add(next);
  }
  return false;
}
