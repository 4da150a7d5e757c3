/** The stages that a build may have to run, with the durations of their last runs. */

/** A stage that may have to run. */
export interface Task {
  readonly stage: string;
  readonly dependsOn: readonly string[];
  /** Units that it takes of each pool. */
  readonly units: Readonly<Record<string, number>>;
  /** Duration of its last run; undefined if it has never run. */
  readonly expectedMs: number | undefined;
}

export interface Outlook {
  /** In topological order. */
  readonly tasks: readonly Task[];
  /** Units of each pool; 1 for a pool that is not listed. */
  readonly capacity: Readonly<Record<string, number>>;
}
