/** A proxy in front of an HTTP cache, which injects a fault into any exchange. */
import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly number: number;
  readonly method: string;
  readonly path: string;
}

export type HttpFault =
  | { readonly kind: 'status'; readonly code: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'hang' }
  /** The connection ends without an answer. */
  | { readonly kind: 'reset' }
  /** Half of the body arrives, then the connection ends. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'wrong-bytes' }
  | { readonly kind: 'slow'; readonly pauseMs: number };

export interface HttpProxy {
  readonly port: number;
  requests(): number;
  close(): Promise<void>;
}

export async function startHttpProxy(upstream: number, fault: (asked: Asked) => HttpFault | undefined): Promise<HttpProxy> {
  let requests = 0;
  const server = createServer((incoming, response) => {
    const { method = '', url = '' } = incoming;
    const found = fault({ number: requests++, method, path: url });
    if (found?.kind === 'hang') return;
    if (found?.kind === 'reset') return void incoming.socket.destroy();
    if (found?.kind === 'status') {
      incoming.resume();
      incoming.on('end', () => response.writeHead(found.code, found.headers).end());
      return;
    }
    const upper: ClientRequest = send(
      { host: '127.0.0.1', port: upstream, method, path: url, headers: incoming.headers, agent: false },
      answer => void relay(answer, response, found),
    );
    upper.on('error', () => response.destroy());
    incoming.pipe(upper);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function relay(answer: IncomingMessage, response: ServerResponse, fault: HttpFault | undefined): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  response.writeHead(answer.statusCode ?? 500, { ...answer.headers });
  if (fault?.kind === 'cut') {
    response.write(body.subarray(0, body.length >> 1), () => response.destroy());
    return;
  }
  if (fault?.kind === 'wrong-bytes' && body.length > 0) body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
  if (fault?.kind === 'slow') {
    for (let at = 0; at < body.length; at += 1 << 14) {
      response.write(body.subarray(at, at + (1 << 14)));
      await new Promise(resolve => setTimeout(resolve, fault.pauseMs));
    }
    response.end();
    return;
  }
  response.end(body);
}
