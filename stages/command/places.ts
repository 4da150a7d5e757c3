/** Where do inputs and outputs stand in the program's folder, and may they stand there? */
import { findMeeting, foldName } from '../../src/stage/fold-name.js';
import type { KindName } from '../../src/stage/ports.js';

/** Where a port's file or folder stands in the program's folder, with its artifact kind. */
export type Place = string | { readonly path: string; readonly kind?: KindName };

export function pathOf(place: Place): string {
  return typeof place === 'string' ? place : place.path;
}

/** Every reason why the paths are not allowed: they stay in the folder, and no two of them meet. */
export function checkPlaces(inputs: Readonly<Record<string, Place>>, outputs: Readonly<Record<string, Place>>): string[] {
  const places = [
    ...Object.entries(inputs).map(([name, place]) => ({ what: `inputs.${name}`, path: pathOf(place) })),
    ...Object.entries(outputs).map(([name, place]) => ({ what: `outputs.${name}`, path: pathOf(place) })),
  ];
  const problems = places
    .filter(({ path }) => !staysInside(path))
    .map(({ what, path }) => `${what}: "${path}" should be a plain relative path inside the folder`);
  const meeting = findMeeting(Object.keys(outputs));
  if (meeting !== undefined) problems.push(`outputs.${meeting[0]} and outputs.${meeting[1]} differ by case alone`);
  for (const [a, b] of findMeetingPlaces(places)) problems.push(`${a.what} and ${b.what} meet: "${a.path}" and "${b.path}"`);
  return problems;
}

interface NamedPlace {
  readonly what: string;
  readonly path: string;
}

/** Each place beside the first one of which it is the same or a part, or the other way round: in the order of the second of each pair. Case does not tell paths apart, as on many file systems it does not either. */
function findMeetingPlaces(places: readonly NamedPlace[]): readonly (readonly [NamedPlace, NamedPlace])[] {
  const standing = new Map<string, NamedPlace>();
  /** By folder: the first place in it, however deep. */
  const holding = new Map<string, NamedPlace>();
  return places.flatMap(place => {
    const path = foldName(place.path);
    const folders = foldersAbove(path);
    const other = holding.get(path) ?? [path, ...folders].map(at => standing.get(at)).find(found => found !== undefined);
    for (const folder of folders) if (!holding.has(folder)) holding.set(folder, place);
    if (!standing.has(path)) standing.set(path, place);
    return other === undefined ? [] : [[other, place] as const];
  });
}

/** Of "a/b/c": "a" and "a/b". */
function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) folders.push(path.slice(0, slash));
  return folders;
}

function staysInside(path: string): boolean {
  return !path.includes('\\') && !path.includes('\0') && path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}
