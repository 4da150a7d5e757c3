/** Which remote cache a command uses: that of the command line, the environment, the user's settings, or the pipeline file, in this order. */
import { resolve } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { parseDuration } from '../../../engine/config/scalars.js';
import type { Executor } from '../../../engine/model/plan.js';
import { parseRemoteAddress, type RemoteAddress } from '../../../remote/address/remote-address.js';
import type { OriginSettings, SettingsFile } from './settings-file.js';

/** Options of commands that use a remote cache. */
export interface RemoteOptions {
  readonly remoteCache?: string;
  /** False with --no-remote. */
  readonly remote: boolean;
  readonly remoteOnly: boolean;
  readonly requireRemote: boolean;
  readonly download?: 'all' | 'targets' | 'none';
  readonly executor?: Executor;
  readonly remoteJobs?: number;
  readonly remoteWrite?: 'yes' | 'no';
}

export interface RemoteChoice {
  readonly address: RemoteAddress;
  readonly read: boolean;
  readonly write: boolean;
  readonly salt: string;
  /** Paths of PEM files, relative to the settings file. */
  readonly sign: string | undefined;
  readonly trust: readonly string[] | undefined;
  readonly timeoutMs: number | undefined;
  readonly credential: Credential;
}

/** What belongs to one origin, and is sent to no other. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** The values that no message may show. */
  readonly secrets: readonly string[];
  readonly tls: Pick<OriginSettings, 'ca' | 'certificate' | 'key'>;
}

export type Chosen =
  | { readonly kind: 'none' }
  | { readonly kind: 'chosen'; readonly choice: RemoteChoice }
  /** The pipeline file names a cache whose origin the user does not trust. It is not contacted. */
  | { readonly kind: 'untrusted'; readonly address: RemoteAddress };

/**
 * @param named the cache that the pipeline file names. An author of that file must not get a token or supply results through it.
 * @throws CodedError `remote-address`, `remote-settings`.
 */
export function chooseRemote(
  options: RemoteOptions,
  environment: NodeJS.ProcessEnv,
  { path, settings }: SettingsFile,
  named: string | undefined,
): Chosen {
  const { remote = {} } = settings;
  const text = options.remoteCache ?? filled(environment.TANREN_REMOTE_CACHE) ?? remote.cache ?? named;
  if (text === undefined || !options.remote) {
    if (options.remoteOnly || options.requireRemote)
      throw settingsError(
        options.remote ? 'a remote cache is required, but none is named' : '--no-remote excludes --remote-only and --require-remote',
        `name one with --remote-cache, TANREN_REMOTE_CACHE, or remote.cache in ${path}`,
      );
    return { kind: 'none' };
  }
  const address = parseRemoteAddress(text);
  const byUser = options.remoteCache ?? filled(environment.TANREN_REMOTE_CACHE) ?? remote.cache;
  const origins = new Map(Object.entries(settings.origins ?? {}).map(([origin, own]) => [parseRemoteAddress(origin).origin, own]));
  if (byUser === undefined && !origins.has(address.origin) && !trustedByEnvironment(environment).has(address.origin)) {
    if (!options.remoteOnly && !options.requireRemote) return { kind: 'untrusted', address };
    throw settingsError(
      `the remote cache ${address.url} of the pipeline file is not trusted`,
      `trust ${address.origin} by an entry under origins in ${path}, or by TANREN_REMOTE_TRUST`,
    );
  }
  const read = remote.read ?? true;
  const choice: RemoteChoice = {
    address,
    read: options.remoteOnly || read,
    write: writes(options, environment) ?? remote.write ?? false,
    salt: remote.salt ?? '',
    sign:
      environment.TANREN_REMOTE_SIGN === undefined || environment.TANREN_REMOTE_SIGN === ''
        ? remote.sign
        : resolve(environment.TANREN_REMOTE_SIGN),
    trust: remote.trust,
    timeoutMs: remote.timeout === undefined ? undefined : parseDuration(remote.timeout),
    credential: credentialOf(address, origins.get(address.origin), environment),
  };
  return { kind: 'chosen', choice };
}

function writes({ remoteWrite }: RemoteOptions, { TANREN_REMOTE_WRITE }: NodeJS.ProcessEnv): boolean | undefined {
  const said = remoteWrite ?? filled(TANREN_REMOTE_WRITE);
  if (said === undefined) return undefined;
  if (said !== 'yes' && said !== 'no') throw settingsError(`TANREN_REMOTE_WRITE is "${said}"`, 'set it to yes or no');
  return said === 'yes';
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Origins in TANREN_REMOTE_TRUST, separated by commas. */
function trustedByEnvironment({ TANREN_REMOTE_TRUST }: NodeJS.ProcessEnv): ReadonlySet<string> {
  const texts = (TANREN_REMOTE_TRUST ?? '').split(',').map(text => text.trim());
  return new Set(texts.filter(text => text !== '').map(text => parseRemoteAddress(text).origin));
}

/** TANREN_REMOTE_TOKEN belongs to the origin of TANREN_REMOTE_CACHE, or else to the one origin of TANREN_REMOTE_TRUST. */
function originOfToken(environment: NodeJS.ProcessEnv): string | undefined {
  const cache = filled(environment.TANREN_REMOTE_CACHE);
  if (cache !== undefined) return parseRemoteAddress(cache).origin;
  const trusted = [...trustedByEnvironment(environment)];
  return trusted.length === 1 ? trusted[0] : undefined;
}

function credentialOf({ origin }: RemoteAddress, own: OriginSettings | undefined, environment: NodeJS.ProcessEnv): Credential {
  const { token: variable, header = 'authorization', scheme = 'Bearer', ca, certificate, key } = own ?? {};
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  };
  const direct = filled(environment.TANREN_REMOTE_TOKEN?.trim());
  if (variable === undefined) {
    if (direct === undefined || originOfToken(environment) !== origin) return { headers: {}, secrets: [], tls };
    assertFitsHeader(direct, 'TANREN_REMOTE_TOKEN');
    return { headers: { authorization: `Bearer ${direct}` }, secrets: [direct], tls };
  }
  const value = filled(environment[variable])?.trim();
  if (value === undefined)
    throw settingsError(
      `the variable ${variable}, which holds the token for ${origin}, is not set`,
      `set ${variable}, or build with --no-remote`,
    );
  const isEncoded = header.toLowerCase() === 'authorization' && scheme === 'Basic';
  if (!isEncoded) assertFitsHeader(value, variable);
  if (header.toLowerCase() !== 'authorization') return { headers: { [header.toLowerCase()]: value }, secrets: [value], tls };
  const sent = isEncoded ? Buffer.from(value).toString('base64') : value;
  const password = isEncoded ? [value.slice(value.indexOf(':') + 1)] : [];
  return { headers: { authorization: `${scheme} ${sent}` }, secrets: [value, sent, ...password], tls };
}

/** The errors of the libraries that send it would show the value. */
function assertFitsHeader(token: string, variable: string): void {
  if (!/^[ -~]*$/.test(token))
    throw settingsError(
      `the token in the variable ${variable} has characters that no header can hold, such as the end of a line`,
      `set ${variable} to the token alone, in printable ASCII`,
    );
}

export function settingsError(message: string, help: string): CodedError {
  return new CodedError('remote-settings', message, { help });
}
