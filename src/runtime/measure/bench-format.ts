/** Format of the report of `bench`, which `report`, `compile` and the board's programs also read or write. */
export const BENCH_FORMAT = 'tanren-bench/1';
