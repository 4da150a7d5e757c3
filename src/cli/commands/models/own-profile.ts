/** Profiles of users that commands extend. */
import { readFile } from 'node:fs/promises';
import { type Json, parseJson } from '../../../base/json.js';
import { codeOrText, hasCode } from '../../../base/system-error.js';
import { getBuiltInProfile } from '../../../target/profile/choose-target.js';
import { TargetError } from '../../../target/report/target-error.js';

/** The user's profile, or the built-in one if the file does not exist yet. */
export async function readOwnProfile(path: string | undefined, target: string): Promise<Json> {
  if (path === undefined) return getBuiltInProfile(target);
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new TargetError('profile-unreadable', `target profile ${path} cannot be read: ${codeOrText(error)}`, { cause: error });
  });
  if (content === undefined) return getBuiltInProfile(target);
  const profile = parseJson(content);
  if (profile === undefined) throw new TargetError('profile-unreadable', `target profile ${path} is not JSON`);
  return profile;
}
