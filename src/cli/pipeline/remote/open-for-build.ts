/** Opens the remote cache of a build, if anything names one. */
import { existsSync } from 'node:fs';
import type { Plan } from '../../../engine/model/plan.js';
import type { RemoteUse } from '../../../engine/store/remote/remote-use.js';
import type { Console } from '../../terminal/console.js';
import type { RemoteOptions } from './choose-remote.js';
import { settingsPath } from './settings-path.js';

/** @throws CodedError of the address and of the settings. */
export async function openForBuild(plan: Plan, options: RemoteOptions, console: Console): Promise<RemoteUse | undefined | 'refused'> {
  if (!namesRemote(options, plan)) return undefined;
  const { findRemote, openRemote, untrustedWarning } = await import('./open-remote.js');
  const found = findRemote(options, plan.remoteCache, console);
  if (found.kind === 'refused') return 'refused';
  if (found.kind === 'untrusted') {
    const { code, message } = untrustedWarning(found.address, found.settings?.path ?? '');
    console.problem('warning', `warning[${code}]: ${message}`);
  }
  return found.kind === 'chosen' && found.settings !== undefined ? openRemote(found.choice, options, found.settings) : undefined;
}

/** Whether anything can name a remote cache. Without it, no module of remote caches is loaded. */
function namesRemote({ remote, remoteCache, remoteOnly, requireRemote }: RemoteOptions, { remoteCache: named }: Plan): boolean {
  if (remoteOnly || requireRemote) return true;
  const asked = remoteCache !== undefined || named !== undefined;
  return remote && (asked || (process.env.TANREN_REMOTE_CACHE ?? '') !== '' || existsSync(settingsPath(process.env)));
}
