/** Checks the paths of inputs and outputs in the program's folder. */
import { findMeeting, foldName } from '../../src/stage/fold-name.js';
import type { Place } from './params.js';

export function pathOf(place: Place): string {
  return typeof place === 'string' ? place : place.path;
}

/** Every problem of the paths: each must stay inside the folder, and no two may overlap. */
export function checkPlaces(inputs: Readonly<Record<string, Place>>, outputs: Readonly<Record<string, Place>>): string[] {
  const places = [
    ...Object.entries(inputs).map(([name, place]) => ({ what: `inputs.${name}`, path: pathOf(place) })),
    ...Object.entries(outputs).map(([name, place]) => ({ what: `outputs.${name}`, path: pathOf(place) })),
  ];
  const problems = places
    .filter(({ path }) => !staysInside(path))
    .map(({ what, path }) => `${what}: "${path}" expected a relative path inside the folder`);
  const meeting = findMeeting(Object.keys(outputs));
  if (meeting !== undefined) problems.push(`outputs.${meeting[0]} and outputs.${meeting[1]} differ only in case`);
  for (const [a, b] of findMeetingPlaces(places)) problems.push(`${a.what} and ${b.what} overlap: "${a.path}" and "${b.path}"`);
  return problems;
}

interface NamedPlace {
  readonly what: string;
  readonly path: string;
}

/** Pairs of a place and the first earlier one that equals it or contains it, or the reverse, in the order of the second one. Paths that differ only in case count as equal, as on many file systems. */
function findMeetingPlaces(places: readonly NamedPlace[]): readonly (readonly [NamedPlace, NamedPlace])[] {
  const standing = new Map<string, NamedPlace>();
  /** The first place inside each folder, at any depth. */
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

/** For "a/b/c": "a" and "a/b". */
function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) folders.push(path.slice(0, slash));
  return folders;
}

function staysInside(path: string): boolean {
  return !path.includes('\\') && !path.includes('\0') && path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}
