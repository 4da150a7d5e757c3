/** Assigns intervals of time to rows so that no two overlap: each gets the first free row. */

interface Piece {
  readonly atMs: number;
  readonly durationMs: number;
}

/** The row of each interval, counted from 0. */
export function assignLanes(pieces: readonly Piece[]): readonly number[] {
  const lanes = new Array<number>(pieces.length).fill(0);
  const freeAtMs: number[] = [];
  const order = pieces.map((_, index) => index).sort((a, b) => (pieces[a]?.atMs ?? 0) - (pieces[b]?.atMs ?? 0) || a - b);
  for (const index of order) {
    const { atMs = 0, durationMs = 0 } = pieces[index] ?? {};
    const free = freeAtMs.findIndex(until => until <= atMs);
    const lane = free < 0 ? freeAtMs.length : free;
    freeAtMs[lane] = atMs + durationMs;
    lanes[index] = lane;
  }
  return lanes;
}
