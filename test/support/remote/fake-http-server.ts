/** A cache in memory that serves /ac/ and /cas/ over HTTP. Like nginx, it checks no digest. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface FakeHttpOptions {
  readonly token?: string;
  readonly latencyMs?: number;
  readonly head?: 'offered' | 'refused';
  readonly put?: 'offered' | 'refused';
}

export interface FakeHttpServer {
  readonly port: number;
  /** Bodies by path, such as "/cas/…". */
  readonly bodies: Map<string, Buffer>;
  /** "GET /ac/…" in order. */
  readonly requests: string[];
  readonly tokens: Set<string>;
  close(): Promise<void>;
}

export async function startFakeHttpServer(options: FakeHttpOptions = {}): Promise<FakeHttpServer> {
  const { token, latencyMs = 0, head = 'offered', put = 'offered' } = options;
  const bodies = new Map<string, Buffer>();
  const requests: string[] = [];
  const tokens = new Set<string>();
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push(`${method} ${url}`);
    if (headers.authorization !== undefined) tokens.add(headers.authorization);
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece as Buffer);
    } catch {
      // A client that breaks off leaves nothing, as with nginx.
      return;
    }
    if (latencyMs > 0) await wait(latencyMs);
    if (token !== undefined && headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (method === 'PUT') {
      if (put === 'refused') return void response.writeHead(405).end();
      bodies.set(url, Buffer.concat(pieces));
      return void response.writeHead(201).end();
    }
    if (method === 'HEAD' && head === 'refused') return void response.writeHead(405).end();
    const body = bodies.get(url);
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-length': body.length }).end(method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    bodies,
    requests,
    tokens,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
