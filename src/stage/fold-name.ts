/** Folds names that some file systems treat as equal: names that differ in case or in the form of accents. */

/** Equal for names that a file system may treat as one. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}

/** Two different names with one folded form; undefined if there are none. */
export function findMeeting(names: Iterable<string>): readonly [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(foldName(name));
    if (other !== undefined && other !== name) return [other, name];
    seen.set(foldName(name), name);
  }
  return undefined;
}
