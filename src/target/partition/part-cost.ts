/** What does a partition cost? Calls and bytes across its borders, in milliseconds by the target's constants: to compare partitions, not to promise times. */

/** A value that units pass on. */
export interface Flow {
  readonly bytes: number;
  /** Undefined: an input of the model. */
  readonly producer: number | undefined;
  readonly readers: readonly number[];
  /** Is it an output of the model? */
  readonly isOutput: boolean;
}

export interface CostConstants {
  readonly fixedMs: number;
  readonly bytesPerMs: number;
}

/** Every part is a call; every value is written once where it leaves its part, and read once by each other part. */
export function costOf(groupOf: readonly number[], flows: readonly Flow[], { fixedMs, bytesPerMs }: CostConstants): number {
  const bytes = flows.reduce((sum, flow) => sum + flow.bytes * crossings(flow, groupOf), 0);
  return new Set(groupOf).size * fixedMs + bytes / bytesPerMs;
}

function crossings({ producer, readers, isOutput }: Flow, groupOf: readonly number[]): number {
  const own = producer === undefined ? undefined : groupOf[producer];
  const others = new Set(readers.map(reader => groupOf[reader]).filter(group => group !== own));
  const leaves = producer !== undefined && (others.size > 0 || isOutput);
  return others.size + (leaves ? 1 : 0);
}
