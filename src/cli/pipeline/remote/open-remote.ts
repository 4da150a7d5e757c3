/** Opens the remote cache of a command. */
import { dirname, resolve } from 'node:path';
import type { RemoteUse } from '../../../engine/store/remote/remote-use.js';
import type { Signatures } from '../../../engine/store/remote/signatures.js';
import { openRemoteCache } from '../../../remote/open-remote-cache.js';
import { type TlsFiles, USUAL_PATIENCE } from '../../../remote/transport/remote-cache.js';
import { makeMask } from '../../../stage/mask.js';
import { VERSION } from '../../process/version.js';
import type { Console } from '../../terminal/console.js';
import { printDiagnostics } from '../open-plan.js';
import { type Chosen, chooseRemote, type RemoteChoice, type RemoteOptions } from './choose-remote.js';
import { readPem, readPrivateKey, readPublicKey } from './read-keys.js';
import { loadSettings, type SettingsFile } from './settings-file.js';

/** 'refused': problems of the settings file are printed. */
export type FoundRemote = Chosen | { readonly kind: 'refused' };

/** @throws CodedError `remote-address`, `remote-settings`. */
export function findRemote(
  options: RemoteOptions,
  named: string | undefined,
  console: Console,
): FoundRemote & { readonly settings?: SettingsFile } {
  const { file, diagnostics, sources } = loadSettings(process.env);
  if (file === undefined) {
    printDiagnostics(diagnostics, sources, console);
    return { kind: 'refused' };
  }
  return { ...chooseRemote(options, process.env, file, named), settings: file };
}

/** @throws CodedError `remote-settings` if a file of TLS cannot be read. */
export async function openRemote(
  { address, read, write, salt, timeoutMs, credential, sign, trust }: RemoteChoice,
  {
    remoteOnly,
    requireRemote,
    download,
    executor,
    remoteJobs,
  }: Pick<RemoteOptions, 'remoteOnly' | 'requireRemote' | 'download' | 'executor' | 'remoteJobs'>,
  settings: SettingsFile,
): Promise<RemoteUse> {
  const mask = makeMask(credential.secrets).apply;
  const cache = await openRemoteCache(address, {
    patience: timeoutMs === undefined ? USUAL_PATIENCE : { ...USUAL_PATIENCE, callMs: timeoutMs },
    headers: credential.headers,
    mask,
    tls: readTls(credential.tls, settings.path),
    program: { name: 'tanren', version: VERSION },
  });
  return {
    cache,
    address: address.url,
    read,
    write,
    local: remoteOnly ? 'ignored' : 'used',
    ...(download === undefined ? {} : { download }),
    executor,
    remoteJobs,
    need: requireRemote ? 'required' : 'optional',
    salt,
    signatures: sign === undefined && trust === undefined ? undefined : readKeys(sign, trust, settings.path),
    mask,
  };
}

/** Paths are relative to the settings file. */
function readTls(files: RemoteChoice['credential']['tls'], settingsFile: string): TlsFiles {
  const read = (path: string | undefined): Buffer | undefined =>
    path === undefined ? undefined : readPem(resolve(dirname(settingsFile), path), `correct its path in ${settingsFile}`);
  return { ca: read(files.ca), certificate: read(files.certificate), key: read(files.key) };
}

function readKeys(sign: string | undefined, trust: readonly string[] | undefined, settingsFile: string): Signatures {
  const at = (path: string): string => resolve(dirname(settingsFile), path);
  return {
    own: sign === undefined ? undefined : readPrivateKey(at(sign)),
    trusted: trust?.map(path => readPublicKey(at(path))),
  };
}

/** What a command prints when the pipeline file names a cache that is not used. */
export function untrustedWarning(
  { url, origin }: { readonly url: string; readonly origin: string },
  settings: string,
): {
  readonly code: string;
  readonly message: string;
} {
  const message = `the pipeline file names the remote cache ${url}, which is not used: trust it by an entry "${origin}: {}" under origins in ${settings}, or by TANREN_REMOTE_TRUST`;
  return { code: 'remote-untrusted', message };
}
