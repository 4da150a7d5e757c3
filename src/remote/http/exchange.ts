/** Single HTTP requests on kept connections, each with a deadline. Redirects are never followed. */
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { after } from '../../base/after.js';
import { systemCode } from '../../base/system-error.js';
import { messageOfError } from '../../base/text/message-of-error.js';
import type { RemoteAddress } from '../address/remote-address.js';
import { broken, RemoteError, refused, unavailable } from '../error/remote-error.js';
import { type Connection, deadlineMs } from '../transport/remote-cache.js';

export interface Request {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  /** Below the path of the address, such as "ac/…". */
  readonly path: string;
  /** What the request moves, for its deadline. */
  readonly sizeBytes: number;
  readonly body?: { readonly sizeBytes: number; readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array> };
  /** Gets the body of a successful answer piece by piece; the server is held back while its promise is pending. */
  readonly onData?: (data: Uint8Array) => Promise<void> | void;
}

export interface Exchange {
  /** @returns the status: below 300, 404, or 405. @throws RemoteError for any other status, and errors of `body` and `onData`. */
  send(request: Request): Promise<number>;
  close(): void;
}

const MOST_SOCKETS = 32;

export function openExchange(address: RemoteAddress, connection: Connection): Exchange {
  const { headers, tls, patience, program, mask } = connection;
  const secured = address.security === 'tls';
  const agent = secured
    ? new TlsAgent({ keepAlive: true, maxSockets: MOST_SOCKETS, ca: tls.ca, cert: tls.certificate, key: tls.key })
    : new PlainAgent({ keepAlive: true, maxSockets: MOST_SOCKETS });
  const ending = new AbortController();
  const base = address.path === '' ? '/' : `/${address.path.split('/').map(encodeURIComponent).join('/')}/`;
  return {
    async send(request) {
      const deadline = new AbortController();
      const stopTimer = after(deadlineMs(patience, request.sizeBytes), () => deadline.abort());
      const signal = AbortSignal.any([deadline.signal, ending.signal]);
      const options: RequestOptions = {
        method: request.method,
        host: address.host,
        port: address.port,
        path: base + request.path,
        agent,
        signal,
        headers: {
          ...headers,
          'user-agent': `${program.name}/${program.version}`,
          'accept-encoding': 'identity',
          ...(request.body === undefined ? {} : { 'content-length': request.body.sizeBytes, 'content-type': 'application/octet-stream' }),
        },
      };
      const name = `${request.method} ${request.path.slice(0, 16)}…`;
      try {
        return await exchange(secured ? tlsRequest(options) : plainRequest(options), request, name, mask);
      } catch (error) {
        if (deadline.signal.aborted) throw new RemoteError('remote-unavailable', 'broken', `${name}: no answer in time`);
        throw error;
      } finally {
        stopTimer();
      }
    },
    close() {
      ending.abort();
      agent.destroy();
    },
  };
}

async function exchange(
  call: ReturnType<typeof plainRequest>,
  { body, onData }: Request,
  name: string,
  mask: Connection['mask'],
): Promise<number> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve);
    call.on('error', error => reject(unavailable(`${name}: ${messageOfError(error)}`)));
  });
  // The error of a body that ends early is the cause; that of the connection follows from it.
  answered.catch(() => undefined);
  if (body === undefined) call.end();
  else await sendBody(call, body.pieces, answered);
  const answer = await answered;
  const status = answer.statusCode ?? 0;
  const problem = problemOf(status, answer, name, mask);
  try {
    for await (const data of answer as AsyncIterable<Buffer>) if (status < 300 && problem === undefined) await onData?.(data);
  } catch (error) {
    if (error instanceof RemoteError || problem !== undefined) throw problem ?? error;
    if (isConnectionError(error)) throw unavailable(`${name}: ${messageOfError(error)}`);
    throw error;
  }
  if (problem !== undefined) throw problem;
  return status;
}

/** Stops if the server answers before the body has ended, as it does when it refuses it. */
async function sendBody(
  call: ReturnType<typeof plainRequest>,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  answered: Promise<IncomingMessage>,
): Promise<void> {
  let over = false;
  const end = (): void => {
    over = true;
    call.emit('drain');
  };
  answered.then(end, end);
  try {
    for await (const piece of pieces) {
      if (over) return;
      if (!call.write(piece) && !over) await new Promise<void>(resolve => call.once('drain', () => resolve()));
    }
    call.end();
  } catch (error) {
    call.destroy();
    throw error;
  }
}

function isConnectionError(error: unknown): boolean {
  return /^(ECONN|EPIPE|ETIMEDOUT|ERR_STREAM|ABORT_ERR|HPE_)/.test(systemCode(error) ?? '');
}

function problemOf(status: number, { headers }: IncomingMessage, name: string, mask: Connection['mask']): RemoteError | undefined {
  const said = `${name}: status ${status}`;
  if ((status >= 200 && status < 300) || status === 404 || status === 405) return undefined;
  if (status === 401 || status === 403)
    return refused(said, 'check the token: the variable that `token` names, its expiry, and its rights on this path');
  if (status >= 300 && status < 400)
    return refused(
      `${said}, a redirect to ${mask(originOf(headers.location))}, which is not followed`,
      'name the address that serves the cache itself',
    );
  if (status === 429 || status === 408 || (status >= 500 && status !== 501 && status !== 505 && status !== 507))
    return unavailable(said, waitOf(headers['retry-after']));
  return broken(said);
}

/** Without path and query, which may hold credentials. */
function originOf(location: string | undefined): string {
  return location !== undefined && URL.canParse(location) ? new URL(location).origin : 'another path';
}

/** Retry-After as seconds or as a date. */
function waitOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}
