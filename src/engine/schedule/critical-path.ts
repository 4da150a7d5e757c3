/** Critical paths: the urgency and effective priority of each stage. */

import { dependenciesOf } from '../model/dependencies.js';
import type { PlannedStage, StageId } from '../model/plan.js';

/**
 * Returns for each stage the total duration of the longest chain from it to a stage without dependents, the stage itself included.
 * Stages with a higher value start first.
 * @param stages in topological order.
 */
export function computeUrgency(stages: readonly PlannedStage[], durationOf: (stage: StageId) => number): ReadonlyMap<StageId, number> {
  const urgency = new Map<StageId, number>();
  const behind = new Map<StageId, number>();
  for (const stage of [...stages].reverse()) {
    const own = durationOf(stage.id) + (behind.get(stage.id) ?? 0);
    urgency.set(stage.id, own);
    for (const dependency of dependenciesOf(stage)) behind.set(dependency, Math.max(behind.get(dependency) ?? 0, own));
  }
  return urgency;
}

/**
 * Returns for each stage the highest priority among the stage and all its dependents, because the inputs of an urgent stage are equally urgent.
 * @param stages in topological order.
 */
export function computePriority(stages: readonly PlannedStage[]): ReadonlyMap<StageId, number> {
  const highest = new Map<StageId, number>();
  for (const stage of [...stages].reverse()) {
    const own = Math.max(stage.priority, highest.get(stage.id) ?? stage.priority);
    highest.set(stage.id, own);
    for (const dependency of dependenciesOf(stage)) highest.set(dependency, Math.max(highest.get(dependency) ?? own, own));
  }
  return highest;
}
