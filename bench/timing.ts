/** Interleaved timing: variants run in turn over several rounds; the median is the result, and the quartiles show the spread. */

export interface Samples {
  /** Sorted in ascending order. */
  readonly values: readonly number[];
  readonly median: number;
  /** First and third quartile. */
  readonly low: number;
  readonly high: number;
}

export function summarize(values: readonly number[]): Samples {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (fraction: number): number => sorted[Math.round(fraction * (sorted.length - 1))] ?? Number.NaN;
  return { values: sorted, median: at(0.5), low: at(0.25), high: at(0.75) };
}

/** The duration of `work` in milliseconds. */
export async function timeMs(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Times each variant once per round, in turn (A B A B …), after one warm-up round. Other load on the machine then affects all variants
 * alike.
 */
export async function interleave<Name extends string>(
  ways: Readonly<Record<Name, () => unknown>>,
  rounds: number,
): Promise<Readonly<Record<Name, Samples>>> {
  const names = Object.keys(ways) as Name[];
  const times = new Map(names.map(name => [name, [] as number[]]));
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const ms = await timeMs(ways[name]);
      if (round >= 0) times.get(name)?.push(ms);
    }
  }
  return Object.fromEntries(names.map(name => [name, summarize(times.get(name) ?? [])])) as Record<Name, Samples>;
}
