/** Estimates the duration of a build before it starts, from the last duration of each stage. */
import { dependenciesOf } from '../../model/dependencies.js';
import type { Task } from '../../model/outlook.js';
import type { Plan, PlannedStage } from '../../model/plan.js';
import { cpuUnits } from '../../schedule/cpu-units.js';
import type { Examined } from '../status/stage-status.js';
import { forecast } from './forecast.js';

export interface ExpectedTime {
  readonly durationMs: number;
  /** 'up-to': some stages may turn out not to run, which is known only after the stages before them. */
  readonly certainty: 'about' | 'up-to';
}

/** Undefined if nothing would run, if a stage cannot run, or if any duration is unknown. @param jobs units of the cpu pool, if given. */
export function expectBuild(plan: Plan, examined: ReadonlyMap<string, Examined>, jobs: number | undefined): ExpectedTime | undefined {
  const stages = [...plan.stages.values()].flatMap(stage => {
    const found = examined.get(stage.id);
    return found === undefined ? [] : [{ stage, ...found }];
  });
  const kinds = new Set(stages.map(({ status }) => status.kind));
  if (kinds.has('impossible') || !kinds.has('stale')) return undefined;
  const tasks = stages.filter(({ status }) => status.kind === 'stale' || status.kind === 'undecided').map(taskOf);
  const durationMs = forecast({ tasks, capacity: { ...plan.pools, cpu: cpuUnits(plan, jobs) } }, new Set());
  return durationMs === undefined ? undefined : { durationMs, certainty: kinds.has('undecided') ? 'up-to' : 'about' };
}

function taskOf({ stage, accepted }: { readonly stage: PlannedStage } & Pick<Examined, 'accepted'>): Task {
  return { stage: stage.id, dependsOn: dependenciesOf(stage), units: { cpu: 1, ...stage.resources }, expectedMs: accepted?.durationMs };
}
