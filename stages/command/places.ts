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
  for (const [index, a] of places.entries()) {
    for (const b of places.slice(index + 1))
      if (meet(a.path, b.path)) problems.push(`${a.what} and ${b.what} meet: "${a.path}" and "${b.path}"`);
  }
  return problems;
}

function staysInside(path: string): boolean {
  return !path.includes('\\') && !path.includes('\0') && path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}

/** Case does not tell them apart: on many file systems it does not either. */
function meet(aPath: string, bPath: string): boolean {
  const [a, b] = [foldName(aPath), foldName(bPath)];
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
