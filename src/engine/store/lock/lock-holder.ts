/** What the holder of a lock says about itself. It is shown to users; no decision depends on it. */
import { hostname, userInfo } from 'node:os';
import { isJsonObject, type Json, parseJson } from '../../../base/json.js';
import type { Holder } from '../../model/lock-holder.js';

const LONGEST = 200;

export function describeSelf(): { readonly [Name in keyof Holder]: Holder[Name] } {
  const command = ['tanren', ...process.argv.slice(2)].join(' ');
  return { command: clean(command), pid: process.pid, user: findUser(), host: clean(hostname()), sinceMs: Date.now() };
}

/** @returns undefined if the text is not a valid description of a holder. */
export function parseHolder(text: string): Holder | undefined {
  const word: Json | undefined = parseJson(text);
  if (!isJsonObject(word)) return undefined;
  const { command, pid, user, host, sinceMs } = word;
  if (typeof command !== 'string' || typeof user !== 'string' || typeof host !== 'string') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || typeof sinceMs !== 'number' || !Number.isFinite(sinceMs)) return undefined;
  return { command: clean(command), pid, user: clean(user), host: clean(host), sinceMs };
}

/** Removes control characters and limits the length, because the text is shown on a terminal. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken away
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST)}…`;
}

/** A user without a name is shown by number. In some containers even that is unknown. */
function findUser(): string {
  try {
    return clean(userInfo().username);
  } catch {
    return String(process.getuid?.() ?? '?');
  }
}
