/** The HTTP server of the page: on the loopback interface, with bounded requests, and every request is checked before it is handled. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CodedError, isCodedError } from '../../base/coded-error.js';
import { hasCode } from '../../base/system-error.js';
import type { AccessToken } from '../access/access-token.js';
import { DATA, findRefusal } from '../access/check-request.js';
import { type Answer, errorAnswer, send } from './answer.js';
import type { PageFiles } from './page-files.js';
import { RequestError } from './read-body.js';

/** A request for data. */
export interface DataRequest {
  /** The path after /api/. */
  readonly name: string;
  readonly query: URLSearchParams;
  readonly method: 'GET' | 'POST';
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ServeOptions {
  readonly token: AccessToken;
  readonly files: PageFiles;
  /** 'taken': the handler answers by itself. */
  readonly answer: (request: DataRequest) => Promise<Answer | 'taken'>;
  /** Receives what went wrong inside, for the terminal. */
  readonly onDefect: (error: unknown) => void;
}

const LOOPBACK = '127.0.0.1';

const LONGEST_PATH = 8_000;

/** @throws CodedError `ui-port`; other system errors of listening. */
export async function listen(ports: readonly number[], options: ServeOptions): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 10_000 });
  server.maxConnections = 128;
  server.on('request', (request, response) => void handle(request, response, options));
  for (const [index, port] of ports.entries()) {
    try {
      return { server, port: await listenAt(server, port) };
    } catch (error) {
      if (!hasCode(error, 'EADDRINUSE', 'EACCES')) throw error;
      if (index === ports.length - 1) throw portError(ports, error);
    }
  }
  throw new RangeError('no port to listen at');
}

function portError(ports: readonly number[], cause: unknown): CodedError {
  const what = ports.length === 1 ? `port ${ports[0]} is` : `the ports ${ports[0]} to ${ports.at(-1)} are`;
  return new CodedError('ui-port', `${what} in use, or reserved for the system`, {
    help: 'name another one with --port, or 0 for any',
    cause,
  });
}

function listenAt(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(error);
    server.once('error', onError);
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      server.off('error', onError);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

async function handle(message: IncomingMessage, response: ServerResponse, options: ServeOptions): Promise<void> {
  try {
    const answer = await answerTo(message, response, options);
    if (answer !== 'taken') await send(message, response, answer);
  } catch (error) {
    // A client that leaves before a large file has ended is no defect.
    if (hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE')) return;
    if (!isCodedError(error)) options.onDefect(error);
    if (response.headersSent) response.destroy();
    else {
      await send(message, response, answerOf(error));
      // The rest of a body that is too large is not read.
      if (!message.complete) response.once('finish', () => message.destroy());
    }
  }
}

async function answerTo(message: IncomingMessage, response: ServerResponse, options: ServeOptions): Promise<Answer | 'taken'> {
  const target = message.url ?? '/';
  if (target.length > LONGEST_PATH) return errorAnswer(414, 'ui-too-large', 'the address is too long');
  // A target that is no path, as proxies get them, is refused. The base is never used.
  const address = `http://loopback${target}`;
  if (!target.startsWith('/') || !URL.canParse(address)) return errorAnswer(400, 'ui-bad-request', 'the address is not a path');
  const url = new URL(address);
  const { method = '', headers } = message;
  const refusal = findRefusal({ method, path: url.pathname, headers }, options.token);
  if (refusal !== undefined) return errorAnswer(refusal.status, refusal.code, refusal.message, refusal.help);
  if (!url.pathname.startsWith(DATA)) {
    const file = method === 'POST' ? undefined : options.files.find(url.pathname);
    return file ?? errorAnswer(404, 'ui-not-found', 'there is no such page');
  }
  const name = url.pathname.slice(DATA.length);
  return options.answer({ name, query: url.searchParams, method: method === 'POST' ? 'POST' : 'GET', message, response });
}

function answerOf(error: unknown): Answer {
  if (error instanceof RequestError) return errorAnswer(error.status, error.code, error.message, error.help);
  if (isCodedError(error)) return errorAnswer(422, error.code, error.message, error.help);
  return errorAnswer(
    500,
    'internal',
    error instanceof Error ? error.message : String(error),
    'the terminal of `tanren ui` has the details',
  );
}
