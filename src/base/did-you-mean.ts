/** Which known name did the user probably mean? */

/** The candidate nearest to `name` by edit distance, where it is near enough to be a slip of the finger (a third of the length, at least 2). */
export function findClosest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Names that a message lists. */
const LISTED = 3;

/**
 * Up to three candidates that `pattern` may mean, nearest first: slips of the finger as findClosest counts them, then names that it is a piece of, or that end
 * like it. `*` in it stands for nothing.
 */
export function findNear(pattern: string, candidates: Iterable<string>): readonly string[] {
  const wanted = pattern.replaceAll('*', '').toLowerCase();
  if (wanted === '') return [];
  const last = wanted.split(/[/.:]/).findLast(Boolean) ?? wanted;
  const most = Math.max(2, Math.floor(wanted.length / 3));
  const ranked: { readonly name: string; readonly rank: number }[] = [];
  for (const name of new Set(candidates)) {
    const lower = name.toLowerCase();
    // Lengths alone tell most names apart; the rest is measured.
    const distance = Math.abs(lower.length - wanted.length) > most ? Number.POSITIVE_INFINITY : editDistance(wanted, lower);
    if (distance <= most) ranked.push({ name, rank: distance });
    else if (lower.includes(wanted)) ranked.push({ name, rank: 1000 + lower.length });
    else if (last.length > 2 && lower.endsWith(last)) ranked.push({ name, rank: 2000 + lower.length });
  }
  return ranked
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
    .slice(0, LISTED)
    .map(({ name }) => name);
}

/** `did you mean "a", "b" or "c"?` */
export function describeNear(names: readonly string[]): string {
  const quoted = names.map(name => `"${name}"`);
  const last = quoted.pop() ?? '';
  return `did you mean ${quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`}?`;
}

/** Levenshtein distance: the least number of insertions, deletions and replacements that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
