/** The critical path of a build: the chain of stages that determined its duration. */

export interface Ended {
  readonly stage: string;
  /** Only dependencies that did something in this build count. */
  readonly dependsOn: readonly string[];
  readonly endedMs: number;
}

/**
 * Goes from the stage that ended last back to the dependency that ended last, and so on. Returns the stages in the order in which they
 * ran.
 */
export function findCriticalPath(stages: readonly Ended[]): readonly string[] {
  const byName = new Map(stages.map(stage => [stage.stage, stage]));
  const path: string[] = [];
  for (let at = latest(stages); at !== undefined; ) {
    path.unshift(at.stage);
    byName.delete(at.stage);
    at = latest(at.dependsOn.flatMap(name => byName.get(name) ?? []));
  }
  return path;
}

function latest(stages: readonly Ended[]): Ended | undefined {
  let found: Ended | undefined;
  for (const stage of stages) if (found === undefined || stage.endedMs > found.endedMs) found = stage;
  return found;
}
