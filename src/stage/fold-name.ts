/** Which names are one on some file system? Those that differ by case, or by how their accents are written. */

/** Equal for names that a file system may take for the same. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}

/** Two different names that fold to one; undefined where there are none. */
export function findMeeting(names: Iterable<string>): readonly [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(foldName(name));
    if (other !== undefined && other !== name) return [other, name];
    seen.set(foldName(name), name);
  }
  return undefined;
}
