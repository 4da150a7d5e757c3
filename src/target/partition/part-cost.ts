/** The cost of a partition: calls and bytes across borders, in milliseconds by the target's constants. It compares partitions; it is not a latency estimate. */

/** A value between units. */
export interface Flow {
  readonly bytes: number;
  /** Undefined for a model input. */
  readonly producer: number | undefined;
  readonly readers: readonly number[];
  /** Whether it is a model output. */
  readonly isOutput: boolean;
}

export interface CostConstants {
  readonly fixedMs: number;
  readonly bytesPerMs: number;
}

/** Every part is one call. Every value that leaves its part is written once, and read once by each other part. */
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
