/** Answers to requests as values, and how one is sent: with the security headers, compressed where the browser takes it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
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
  readonly takesGzip: boolean;
}

/** Resolves when all is handed to the connection. @throws system errors of reading a stream, and of a client that leaves. */
export async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const exchange = { request, response, answer, takesGzip: /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? '')) };
  const { body } = answer;
  if (body instanceof Readable) await sendStream(exchange, body);
  else sendBytes(exchange, typeof body === 'string' ? Buffer.from(body) : body);
}

/** Compressed in another thread, and quickly: the connection is one of this machine, or a tunnel to it. */
async function sendStream({ request, response, answer: { status, headers }, takesGzip }: Exchange, body: Readable): Promise<void> {
  const isZipped = takesGzip && isCompressible(headers);
  const coding = isZipped ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...coding, vary: 'accept-encoding' });
  if (request.method === 'HEAD') {
    body.destroy();
    response.end();
  } else if (isZipped) await pipeline(body, createGzip({ level: 1, chunkSize: 1 << 18 }), response);
  else await pipeline(body, response);
}

function sendBytes({ request, response, answer, takesGzip }: Exchange, body: Uint8Array): void {
  const { status, headers } = answer;
  const isLarge = body.byteLength >= LEAST_BYTES;
  const gzipped =
    takesGzip && isLarge ? (answer.gzipped ?? (isCompressible(headers) ? gzipSync(body, { level: 5 }) : undefined)) : undefined;
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
