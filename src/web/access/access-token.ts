/** The token of a project's page: a file that only its owner may read, and the comparison of a request's token with it. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { digestBytes } from '../../base/digest.js';
import { writePrivateFile } from '../../base/files/write-private.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import { hasCode, isMissing } from '../../base/system-error.js';
import { readRegularText } from '../../engine/store/files/read-regular.js';

/** 256 bits in base64url. */
const FORM = /^[A-Za-z0-9_-]{43}$/;

export interface AccessToken {
  /** The token that is valid now: another process may have rotated it. */
  current(): string;
  /** Whether `given` is the token. The time does not depend on where they differ. */
  admits(given: string | undefined): boolean;
}

export interface OpenedToken {
  readonly token: AccessToken;
  /** 'exposed': other users could read the former token, so it was replaced. */
  readonly origin: 'kept' | 'new' | 'exposed';
}

/**
 * Opens the token in the file at `path`, and makes one if there is none.
 * @param use 'rotate': the former token becomes invalid at once, in running servers too.
 * @throws file system errors.
 */
export function openAccessToken(path: string, use: 'keep' | 'rotate'): OpenedToken {
  const found = readToken(path);
  const isExposed = found !== undefined && isOpenToOthers(path);
  if (found !== undefined && !isExposed && use === 'keep') return { token: followToken(path, found), origin: 'kept' };
  const fresh = randomBytes(32).toString('base64url');
  writeToken(path, fresh);
  return { token: followToken(path, fresh), origin: isExposed ? 'exposed' : 'new' };
}

/** A token of one process, which is kept in no file. */
export function fixedToken(token: string): AccessToken {
  return { current: () => token, admits: given => given !== undefined && isEqual(given, token) };
}

function followToken(path: string, first: string): AccessToken {
  let known = { stamp: stampOf(path), token: first };
  const current = (): string => {
    const stamp = stampOf(path);
    // If the file was removed, as by `clean --all`, the token stays valid for the processes that know it.
    if (stamp !== undefined && stamp !== known.stamp) known = { stamp, token: readToken(path) ?? known.token };
    return known.token;
  };
  return { current, admits: given => given !== undefined && isEqual(given, current()) };
}

/** Digests have one length, whatever the texts. */
function isEqual(given: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(digestBytes(given)), Buffer.from(digestBytes(token)));
}

function stampOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.size}`;
}

/** Windows has no such mode: there the folder's permissions decide. */
function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}

function readToken(path: string): string | undefined {
  try {
    const document = parseJson(readRegularText(path));
    const token = isJsonObject(document) ? document.token : undefined;
    return typeof token === 'string' && FORM.test(token) ? token : undefined;
  } catch (error) {
    if (isMissing(error) || hasCode(error, 'EACCES')) return undefined;
    throw error;
  }
}

function writeToken(path: string, token: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivateFile(path, `${JSON.stringify({ token })}\n`);
}
