/** Answers to requests as values, and how one is sent: with the security headers, compressed where the browser takes it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip, gzipSync } from 'node:zlib';
import type { Json } from '../../base/json.js';
import { SECURITY_HEADERS } from '../access/security-headers.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is of a large file. */
  readonly body: Uint8Array | string | Readable;
  /** The body after gzip, if it is known. */
  readonly gzipped?: Uint8Array | undefined;
}

/** Smaller bodies are not worth compressing. */
const LEAST_BYTES = 1_000;

export function jsonAnswer(value: unknown, status = 200): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(value),
  };
}

/** An error that the page shows: a stable code, what happened, and the next step. */
export function errorAnswer(status: number, code: string, message: string, help?: string, details?: Json): Answer {
  return jsonAnswer({ error: { code, message, help, details } }, status);
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: Answer;
  /** What the browser takes: content codings by their names. */
  readonly takes: ReadonlySet<string>;
}

/** Resolves when all is handed to the connection. @throws system errors of reading a stream, and of a client that leaves. */
export async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const takes = new Set(String(request.headers['accept-encoding'] ?? '').match(/\b(gzip|br)\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/g));
  const exchange = { request, response, answer, takes };
  const { body } = answer;
  if (body instanceof Readable) await sendStream(exchange, body);
  else sendBytes(exchange, typeof body === 'string' ? Buffer.from(body) : body);
}

/** Compressed in another thread, and quickly: the connection is one of this machine, or a tunnel to it. */
async function sendStream({ request, response, answer: { status, headers }, takes }: Exchange, body: Readable): Promise<void> {
  const coding = isCompressible(headers) ? QUICK_CODINGS.find(({ name }) => takes.has(name)) : undefined;
  const encoding = coding === undefined ? {} : { 'content-encoding': coding.name };
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...encoding, vary: 'accept-encoding' });
  if (request.method === 'HEAD') {
    body.destroy();
    response.end();
  } else if (coding !== undefined) await pipeline(body, coding.open(), response);
  else await pipeline(body, response);
}

const CHUNK_BYTES = 1 << 18;

/** The first that the browser takes. Brotli of quality 1 takes a third of the processor time of gzip of level 1, for smaller answers. */
const QUICK_CODINGS = [
  { name: 'br', open: () => createBrotliCompress({ chunkSize: CHUNK_BYTES, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }) },
  { name: 'gzip', open: () => createGzip({ level: 1, chunkSize: CHUNK_BYTES }) },
] as const;

function sendBytes({ request, response, answer, takes }: Exchange, body: Uint8Array): void {
  const { status, headers } = answer;
  const isLarge = body.byteLength >= LEAST_BYTES;
  const gzipped =
    takes.has('gzip') && isLarge ? (answer.gzipped ?? (isCompressible(headers) ? gzipSync(body, { level: 5 }) : undefined)) : undefined;
  const content = gzipped ?? body;
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    ...(gzipped === undefined ? {} : { 'content-encoding': 'gzip' }),
    vary: 'accept-encoding',
    'content-length': content.byteLength,
  });
  response.end(request.method === 'HEAD' ? undefined : content);
}

function isCompressible(headers: Readonly<Record<string, string>>): boolean {
  return /json|text|javascript|svg/.test(headers['content-type'] ?? '');
}
