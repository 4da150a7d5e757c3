/** Answers to requests as values, and how one is sent: with the security headers, compressed where the browser takes it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Json } from '../../base/json.js';
import { SECURITY_HEADERS } from '../access/security-headers.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
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

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const { status, headers } = answer;
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
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
