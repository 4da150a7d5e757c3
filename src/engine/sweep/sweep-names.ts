/** Names under which sweeps and subsets are built. No pipeline file can have a name with a dot first. */

/** Where a sweep's artifacts, state and logs are. */
export function sweepName(pipeline: string): string {
  return `.sweep-${pipeline}`;
}

/** The same of a subset that `watch` evaluates: an interrupted sweep of the pipeline keeps what it has. */
export function subsetName(pipeline: string): string {
  return `.subset-${pipeline}`;
}
