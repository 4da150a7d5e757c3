/** The part of the pipeline around one stage. */
import type { StageRow } from '../../../report/views/pipeline-data.js';

/** The stage, all that it depends on and all that depend on it, directly or not, in the order of the pipeline. */
export function stagesAround<Stage extends Pick<StageRow, 'id' | 'dependsOn'>>(id: string, stages: readonly Stage[]): readonly Stage[] {
  const before = new Map(stages.map(stage => [stage.id, stage.dependsOn]));
  const after = new Map<string, string[]>();
  for (const stage of stages) for (const from of stage.dependsOn) after.set(from, [...(after.get(from) ?? []), stage.id]);
  const kept = new Set([...reach(id, before), ...reach(id, after)]);
  return stages.filter(stage => kept.has(stage.id));
}

function reach(from: string, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set([from]);
  for (const id of reached) for (const other of next.get(id) ?? []) reached.add(other);
  return reached;
}
