/** Explanation of denied file access by the owner of the file, for messages. */
import { accessSync, constants, lstatSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { FORBIDDEN, hasCode } from '../system-error.js';

/**
 * For a denied call: the file or folder on the path that belongs to another user, and the next step.
 * @returns undefined if another owner is not the reason, or if the system has no owners.
 */
export function explainForbidden(error: unknown): string | undefined {
  const me = process.geteuid?.();
  if (me === undefined || !hasCode(error, ...FORBIDDEN)) return undefined;
  const { path, dest } = error;
  for (const one of [path, dest]) {
    const place = typeof one === 'string' ? findForbidden(one, me) : undefined;
    if (place === undefined) continue;
    const { at, owner } = place;
    return `${at} belongs to ${nameUser(owner)}, and this runs as ${nameUser(me)}: let ${nameUser(0)} run "chown -R ${me} ${at}", or build as the owner`;
  }
  return undefined;
}

/** The name and number of a user, "anna (uid 1000)", or the number alone if there is no name. */
export function nameUser(uid: number): string {
  const name = uid === process.geteuid?.() ? ownName() : (passwdName(uid) ?? (uid === 0 ? 'root' : undefined));
  return name === undefined ? `uid ${uid}` : `${name} (uid ${uid})`;
}

/** The first of `path`, its folder and its nearest existing ancestor that belongs to another user and is not accessible. */
function findForbidden(path: string, me: number): { readonly at: string; readonly owner: number } | undefined {
  let standing = path;
  while (ownerOf(standing) === undefined && dirname(standing) !== standing) standing = dirname(standing);
  for (const at of standing === path ? [path, dirname(path)] : [standing]) {
    const owner = ownerOf(at);
    if (owner !== undefined && owner !== me && !isOpen(at)) return { at, owner };
  }
  return undefined;
}

function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid;
  } catch {
    return undefined; // Nothing is there, or a folder above is closed: then that one is found.
  }
}

function isOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function ownName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined; // A user without an entry, as in containers.
  }
}

function passwdName(uid: number): string | undefined {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    return lines.map(line => line.split(':')).find(fields => fields[2] === `${uid}`)?.[0];
  } catch {
    return undefined;
  }
}
