/** Which requests are answered: those that a page of this server, on a loopback name, sends with the project's token. */
import type { AccessToken } from './access-token.js';

/** The parts of a request that decide. Header names are in lower case. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Refusal {
  readonly status: 401 | 403 | 405;
  readonly code: 'ui-host' | 'ui-origin' | 'ui-method' | 'ui-token';
  readonly message: string;
  readonly help: string;
}

/** Everything below this path needs the token. The page itself, which holds no data of the project, needs none. */
export const DATA = '/api/';

/** The reason why a request is refused; undefined if it is answered. */
export function findRefusal({ method, path, headers }: RequestFacts, token: AccessToken): Refusal | undefined {
  if (!['GET', 'HEAD', 'POST'].includes(method))
    return { status: 405, code: 'ui-method', message: `${method} is not supported`, help: 'the page uses GET and POST' };
  const host = textOf(headers.host);
  if (host === undefined || !isLoopback(host)) return refuseHost(host);
  const origin = headers.origin;
  if (origin !== undefined && origin !== `http://${host}`) return refuseOrigin(`the origin ${String(origin)}`);
  if (!path.startsWith(DATA)) return undefined;
  const site = textOf(headers['sec-fetch-site']);
  if (site !== undefined && site !== 'same-origin') return refuseOrigin(`a ${site} page`);
  // A form or a script of another page cannot send this type without the browser asking first.
  if (method === 'POST' && (textOf(headers['content-type']) ?? '').split(';')[0] !== 'application/json')
    return { status: 403, code: 'ui-origin', message: 'a change is sent as application/json', help: 'use the page' };
  if (token.admits(bearerOf(textOf(headers.authorization)))) return undefined;
  return {
    status: 401,
    code: 'ui-token',
    message: 'the token is missing or no longer valid',
    help: 'open the address that `tanren ui` prints',
  };
}

function refuseHost(host: string | undefined): Refusal {
  return {
    status: 403,
    code: 'ui-host',
    message: `the host ${host ?? '(none)'} is not a name of this machine's loopback interface`,
    help: 'use localhost or 127.0.0.1; from another machine, forward the port with ssh -L',
  };
}

function refuseOrigin(what: string): Refusal {
  return { status: 403, code: 'ui-origin', message: `${what} may not read or change this project`, help: 'use the page itself' };
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function bearerOf(value: string | undefined): string | undefined {
  return /^Bearer ([\w-]{1,200})$/.exec(value ?? '')?.[1];
}

/** Whether `host` ("name" or "name:port") is a loopback name or address, on any port, because ssh may forward another one. */
export function isLoopback(host: string): boolean {
  const name = /^(\[[0-9a-f:]+\]|[^:[\]]+)(:\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (name === 'localhost' || /^[a-z0-9-]+(\.[a-z0-9-]+)*\.localhost$/.test(name) || name === '[::1]') return true;
  const bytes = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(name)?.slice(1) ?? [];
  return bytes.length === 3 && bytes.every(byte => Number(byte) <= 255);
}
