/** What a build may have to run, and how long each stage took last. */

/** A stage that may have to run. */
export interface Task {
  readonly stage: string;
  readonly dependsOn: readonly string[];
  /** Units that it takes of each pool. */
  readonly units: Readonly<Record<string, number>>;
  /** What its last run took; undefined where it has never run. */
  readonly expectedMs: number | undefined;
}

export interface Outlook {
  /** In topological order. */
  readonly tasks: readonly Task[];
  /** Units of each pool; of one that is not named, 1. */
  readonly capacity: Readonly<Record<string, number>>;
}
