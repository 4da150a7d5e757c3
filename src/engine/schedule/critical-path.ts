/** How long is the way from a stage to the end? Stages on the longest way start first. */

import { dependenciesOf } from '../model/dependencies.js';
import type { PlannedStage, StageId } from '../model/plan.js';

/**
 * For each stage the sum of durations on the longest chain of stages from it to one that nothing depends on, itself included.
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
 * The highest priority among a stage and all that wait for it: what an urgent stage reads is as urgent.
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
