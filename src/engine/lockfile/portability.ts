/**
 * Determines on which machines the outputs of a stage have the same bytes, from the plan alone, so that every machine gives the same
 * answer.
 */
import { refsOf } from '../model/dependencies.js';
import type { InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';

/** 'same': equal on every machine. 'per-class': equal on all machines of a platform class. 'measured': different in every run. */
export type Portability = 'same' | 'per-class' | 'measured';

/** Inputs matter too: a stage that reads a measured output varies in the same way. */
export function findPortability(plan: Plan): ReadonlyMap<StageId, Portability> {
  const found = new Map<StageId, Portability>();
  for (const stage of plan.stages.values()) {
    const before = new Set(artifactRefs(stage).map(ref => found.get(ref.stage)));
    if (stage.determinism === 'measured' || before.has('measured')) found.set(stage.id, 'measured');
    else found.set(stage.id, stage.plugin.plugin.runsModels === 'always' || before.has('per-class') ? 'per-class' : 'same');
  }
  return found;
}

type ArtifactRef = Extract<InputRef, { readonly kind: 'artifact' }>;

function artifactRefs(stage: PlannedStage): readonly ArtifactRef[] {
  return Object.values(stage.inputs)
    .flatMap(refsOf)
    .flatMap(ref => (ref.kind === 'artifact' ? [ref] : []));
}

/** Every input by "port", or by "port.entry" for a record. */
export function namedInputs({ inputs }: PlannedStage): readonly (readonly [string, InputRef])[] {
  return Object.entries(inputs).flatMap(([port, binding]): (readonly [string, InputRef])[] =>
    binding.kind === 'record' ? Object.entries(binding.entries).map(([entry, ref]) => [`${port}.${entry}`, ref]) : [[port, binding]],
  );
}
