/** The units of pools that a run takes, here or on a remote worker. */
import { placeToRun, spreadsParts } from '../execute/remote/where-to-run.js';
import type { PlannedStage } from '../model/plan.js';
import type { RunServices } from './run-services.js';
import type { Units } from './stage-queue.js';

export function unitsHere({ resources }: PlannedStage): Units {
  return { cpu: 1, ...resources };
}

/** A remote run takes nothing of this machine. It keeps the named pools, which may stand for licenses or devices. */
export function unitsOf(stage: PlannedStage, { remote }: Pick<RunServices, 'remote'>): Units {
  const place = placeToRun(stage, remote?.asked, remote === undefined ? 'none' : 'named');
  if (place.kind === 'here' || spreadsParts(stage) || remote === undefined || (place.need === 'preferred' && remote.isLeftOut()))
    return unitsHere(stage);
  const { cpu: _, memory: __, ...named } = stage.resources;
  return { ...named, remote: 1 };
}
