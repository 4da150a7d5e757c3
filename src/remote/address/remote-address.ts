/** Addresses of remote caches: grpc, grpcs, http and https URLs. */
import { CodedError } from '../../base/coded-error.js';

export interface RemoteAddress {
  readonly transport: 'grpc' | 'http';
  readonly security: 'tls' | 'plaintext';
  /** A name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The instance name of gRPC, or the path before /ac/ and /cas/ of HTTP; without slashes at its ends, and '' if there is none. */
  readonly path: string;
  /** Scheme, host and port: what credentials and trust are bound to. */
  readonly origin: string;
  /** The whole address in its normal form. */
  readonly url: string;
}

const SCHEMES: Readonly<Record<string, Pick<RemoteAddress, 'transport' | 'security'> & { readonly port: number }>> = {
  'grpc:': { transport: 'grpc', security: 'plaintext', port: 80 },
  'grpcs:': { transport: 'grpc', security: 'tls', port: 443 },
  'http:': { transport: 'http', security: 'plaintext', port: 80 },
  'https:': { transport: 'http', security: 'tls', port: 443 },
};

/**
 * Parses an address. It may name neither user nor password, because addresses appear in logs.
 * @throws CodedError `remote-address`, also for an address without TLS of another machine.
 */
export function parseRemoteAddress(text: string): RemoteAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url === undefined ? undefined : SCHEMES[url.protocol];
  if (url === undefined || scheme === undefined || url.hostname === '')
    throw badAddress(text, 'expected grpcs://host/instance or https://host/path');
  if (url.username !== '' || url.password !== '')
    throw badAddress(text, 'it names a user or password', 'put the credential into a variable, and name that variable with `token`');
  if (url.search !== '' || url.hash !== '') throw badAddress(text, 'it has a query or a fragment, which no cache reads');
  const { transport, security } = scheme;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (security === 'plaintext' && !isLoopback(host)) {
    const safe = transport === 'grpc' ? 'grpcs' : 'https';
    throw badAddress(
      text,
      `it sends results and credentials without encryption to ${host}`,
      `use ${safe}://; without TLS only this machine can be named`,
    );
  }
  const port = url.port === '' ? scheme.port : Number(url.port);
  const path = decodePath(url.pathname)?.replace(/^\/+|\/+$/g, '');
  if (path === undefined || /[%\\]/.test(path)) throw badAddress(text, 'its path has an encoded separator, or is no UTF-8');
  const origin = `${url.protocol}//${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { transport, security, host, port, path, origin, url: path === '' ? origin : `${origin}/${path}` };
}

/** Names of this machine. Only for these an address may do without TLS. A resolver may ask other machines for `x.localhost`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}

/** The text without what may be a credential: all up to the last @, and what follows a query or a fragment. It may be no URL. */
function withoutCredentials(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z+]*:\/\/)?(.*)$/is.exec(text) ?? [];
  return scheme + rest.replace(/^.*@/s, '').replace(/[?#].*$/s, '');
}

function badAddress(text: string, what: string, help = 'see docs/remote-cache.md'): CodedError {
  return new CodedError('remote-address', `"${withoutCredentials(text)}" is not an address of a remote cache: ${what}`, { help });
}
