/** The stages that a sweep builds, and among them those whose metrics are the figures of a row. */
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { MergedPlans } from './merge-plans.js';

export interface SweepTargets {
  /** In the merged plan. */
  readonly build: readonly StageId[];
  /** By their ids in the pipeline, in the order of the plans: targets that the sweep changes. */
  readonly reported: readonly StageId[];
}

/**
 * @param asked the targets of the user, by configuration. 'changed': every stage that the sweep changes and that has metrics.
 * Stages that measure are built only if they are asked for, because they run one by one and again on every machine.
 */
export function chooseTargets(
  plans: readonly Plan[],
  merged: MergedPlans,
  asked: 'changed' | readonly (readonly StageId[])[],
): SweepTargets {
  // If no configuration differs from the pipeline as it stands, all of it is shown.
  const isChanged = (id: StageId): boolean => merged.changed.size === 0 || merged.changed.has(id);
  const build = new Set<StageId>();
  const reported = new Set<StageId>();
  for (const [index, plan] of plans.entries()) {
    const ids = merged.stages[index];
    const wanted = asked === 'changed' ? undefined : new Set(asked[index]);
    for (const stage of plan.stages.values()) {
      if (wanted === undefined ? !isChanged(stage.id) || !hasMetrics(stage) || stage.determinism === 'measured' : !wanted.has(stage.id))
        continue;
      const id = ids?.get(stage.id);
      if (id === undefined) continue;
      build.add(id);
      if (isChanged(stage.id) && hasMetrics(stage)) reported.add(stage.id);
    }
  }
  return { build: [...build], reported: [...reported] };
}

function hasMetrics(stage: PlannedStage): boolean {
  return Object.values(stage.outputPorts).some(({ kind }) => kind === 'metrics');
}
