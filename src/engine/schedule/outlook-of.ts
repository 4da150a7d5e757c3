/** What a build may have to run, for the estimate of its remaining time. */
import type { Session } from '../action/session.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import { dependenciesOf } from '../model/dependencies.js';
import type { Outlook } from '../model/outlook.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import { poolUnits } from './cpu-units.js';

interface Remaining {
  readonly selected: readonly PlannedStage[];
  readonly settled: ReadonlyMap<StageId, AcceptedStage>;
  readonly jobs: number | undefined;
}

/** Returns the stages that are not settled, with the durations of their last runs. */
export function outlookOf({ plan, state }: Session, { selected, settled, jobs }: Remaining): Outlook {
  const tasks = selected
    .filter(({ id }) => !settled.has(id))
    .map(stage => ({
      stage: stage.id,
      dependsOn: dependenciesOf(stage),
      units: { cpu: 1, ...stage.resources },
      expectedMs: state.stages.get(stage.id)?.durationMs,
    }));
  return { tasks, capacity: poolUnits(plan, jobs) };
}
