/** Suggestions of known names for a misspelled name. */

/** The candidate with the smallest edit distance to `name`, if that is at most a third of the length, or 2. */
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

/** Maximum number of names in a message. */
const LISTED = 3;

/**
 * Up to three candidates similar to `pattern`, nearest first: misspellings as in findClosest, then names that contain it or end with it. `*` in the pattern
 * is ignored.
 */
export function findNear(pattern: string, candidates: Iterable<string>): readonly string[] {
  const wanted = pattern.replaceAll('*', '').toLowerCase();
  if (wanted === '') return [];
  const last = wanted.split(/[/.:]/).findLast(Boolean) ?? wanted;
  const most = Math.max(2, Math.floor(wanted.length / 3));
  const ranked: { readonly name: string; readonly rank: number }[] = [];
  for (const name of new Set(candidates)) {
    const lower = name.toLowerCase();
    // Most names are excluded by their length, so that few edit distances are computed.
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

/** Levenshtein distance: the minimum number of insertions, deletions and replacements from `a` to `b`. */
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
