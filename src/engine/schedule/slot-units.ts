/** The units of pools that a run takes, here or on a remote worker. */
import { placeToRun, spreadsParts } from '../execute/remote/where-to-run.js';
import type { PlannedStage } from '../model/plan.js';
import type { RunServices } from './run-services.js';
import type { Units } from './unit-counts.js';

export function unitsHere({ resources }: PlannedStage): Units {
  return { cpu: 1, ...resources };
}

/** Whether the stage runs on a remote worker as a whole, as far as is known before it starts. */
export function runsOnWorker(stage: PlannedStage, { remote }: Pick<RunServices, 'remote'>): boolean {
  const place = placeToRun(stage, remote?.asked, remote === undefined ? 'none' : 'named');
  if (place.kind === 'here' || spreadsParts(stage) || remote === undefined) return false;
  return place.need === 'required' || !remote.isLeftOut();
}

/** A remote run takes nothing of this machine. It keeps the named pools, which may stand for licenses or devices. */
export function unitsOf(stage: PlannedStage, services: Pick<RunServices, 'remote'>): Units {
  if (!runsOnWorker(stage, services)) return unitsHere(stage);
  const { cpu: _, memory: __, ...named } = stage.resources;
  return { ...named, remote: 1 };
}

/** What a run takes to continue here, beside the units that it holds already. It must not wait for those: it would wait for itself. */
export function unitsBeside(held: Units, stage: PlannedStage): Units {
  return Object.fromEntries(
    Object.entries(unitsHere(stage)).flatMap(([pool, units]) => {
      const more = units - (held[pool] ?? 0);
      return more > 0 ? [[pool, more]] : [];
    }),
  );
}
